"""What every page of ours is rendered with: strict templates, escaped text, one style sheet."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evals.report import text
from evals.report.anchors import Anchors

_SHARED = "evals.report"
"""The package whose templates and style sheet all pages share."""


def page_environment(package: str = _SHARED) -> Environment:
    """An environment over the templates of ``package`` and the shared ones, with the words and numbers of every page.

    Anchors are unique in one environment: take a new one for each page.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, "templates") for name in dict.fromkeys((package, _SHARED))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(
        anchor=Anchors(),
        count=text.count,
        p_value=text.p_value,
        percent=text.percent,
        short=text.short,
        span=lambda found, show: text.span(found.low, found.high, show),
    )
    return environment


def style_sheet(environment: Environment) -> Markup:
    """The style sheet, to be put into the page itself."""
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, "style.css")[0])  # noqa: S704  (our own style sheet)
