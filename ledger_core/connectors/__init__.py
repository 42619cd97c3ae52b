"""Other people's transcripts become ledger events: `chat` (OpenAI chat JSONL), `tau-bench`, `inspect`.

A format's reader yields neutral transcript records; one mapper turns records into statements; importing is idempotent.
What does not belong here: what any of it is worth (that is the fold's), and shapes of secrets (those are redaction's).
"""

from ledger_core.connectors.formats import FORMATS
from ledger_core.connectors.importing import ImportReport, import_transcripts
from ledger_core.connectors.transcript import Reject

__all__ = ["FORMATS", "ImportReport", "Reject", "import_transcripts"]
