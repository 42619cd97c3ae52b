"""A process of its own: MiB of resident memory before one attribution, and at most during it, on standard output (Linux)."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("who", choices=("ours", "peer"))
    parser.add_argument("model", type=Path)
    parser.add_argument("size")
    parser.add_argument("threads", type=int)
    parser.add_argument("batch", type=int)
    options = parser.parse_args()
    from attribution.designs import foldover
    from attribution.models import load_language_model, resolve_model
    from tests.bench.peer_contextcite import ABLATIONS, ANSWER, Peer, package
    from tests.bench.peer_contextcite_contexts import context

    # Every process imports what the package imports, so that the difference is what the work takes.
    package()
    small = options.size == "small"
    language = load_language_model(resolve_model(str(options.model), options.model), threads=options.threads)
    given = context(0, least=4, most=4) if small else context(0)
    peer = Peer(language, given, language.tokenize(given.sentences[0]) if small else ANSWER)
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # what loading took at its peak is forgotten
    if options.who == "ours":
        peer.log_p(foldover(len(peer.context.sentences), 0).states)
    else:
        peer.peer_passes(options.batch, max(options.batch, ABLATIONS // 4))
    sys.stdout.write(f"{before:.1f} {_memory('VmHWM'):.1f}\n")


def _memory(field: str) -> float:
    found = re.search(rf"{field}:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found.group(1)) / 1024


if __name__ == "__main__":
    main()
