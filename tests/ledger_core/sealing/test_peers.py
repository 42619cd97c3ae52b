"""Whom a page comes from: the last host, or the one that a listed mirror shows."""

from __future__ import annotations

import pytest

from ledger_core.sealing.peers import origin_of


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.example.org/a?b=https://other.test/", "www.example.org"),
        ("https://EXAMPLE.org.:8443/", "example.org"),
        ("http://user:pass@a.test/", "a.test"),
        ("http://[2001:db8::1]:80/", "2001:db8::1"),
        ("https://web.archive.org/web/20240101000000/https://news.test/story", "news.test"),
        ("https://web.archive.org/web/20240101000000id_/http://news.test:80/story", "news.test"),
        ("https://web.archive.org/web/20240101000000/news.test/story", "news.test"),
        ("https://web.archive.org/about", "web.archive.org"),
        ("https://archive.ph/20240101/https://news.test/", "news.test"),
        ("https://r.jina.ai/https://news.test/a?b=c", "news.test"),
        ("https://r.jina.ai/", "r.jina.ai"),
        ("https://webcache.googleusercontent.com/search?q=cache:AbCdEf-12345:https://news.test/a+words", "news.test"),
        ("https://webcache.googleusercontent.com/search?q=cache:news.test/a", "news.test"),
        ("https://webcache.googleusercontent.com/search", "webcache.googleusercontent.com"),
        ("https://www-news--site-test.translate.goog/a?_x_tr_sl=de", "www.news-site.test"),
        ("https://news-test.cdn.ampproject.org/c/s/news.test/a", "news.test"),
        ("https://cdn.ampproject.org/c/s/news.test/a", "news.test"),
        ("https://web.archive.org/web/2024/https://r.jina.ai/https://news.test/", "news.test"),
        ("https://r.jina.ai/https%3A%2F%2Fnews.test%2Fa", "news.test"),
        ("https://r.jina.ai/https://", "r.jina.ai"),
        ("https://r.jina.ai/http://[::1", "r.jina.ai"),
        (
            "https://web.archive.org/web/2024/https://webcache.googleusercontent.com/search?q=cache:news.test/a",
            "news.test",
        ),
        ("http://[::1", None),
        ("mailto:someone", None),
        ("", None),
    ],
)
def test_the_origin_of_an_address(url, host):
    assert origin_of(url) == host


def test_a_mirror_lends_nobody_a_second_voice():
    own = "https://news.test/story"
    mirrors = ["https://web.archive.org/web/2024/", "https://r.jina.ai/", "https://archive.today/2024/"]
    assert {origin_of(mirror + own) for mirror in mirrors} == {origin_of(own)}


def test_a_host_that_only_looks_like_a_mirror_is_itself():
    for host in ("web.archive.org.evil.test", "translate.goog.evil.test", "xr.jina.ai.evil.test"):
        assert origin_of(f"https://{host}/web/2024/https://news.test/") == host


def test_mirrors_of_mirrors_come_to_an_end():
    assert origin_of("https://r.jina.ai/" * 50 + "https://news.test/") == "r.jina.ai"
