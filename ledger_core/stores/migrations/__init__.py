"""Steps between versions of the tables, one Alembic revision a version; see `ledger_core/stores/formats.py`.

A new version is one more file in `versions/`, the same tables in `schema.sql`, and a higher `FORMAT_VERSION`. What was
released is never edited: ledgers in the field have taken those steps.
"""
