"""The work behind the assets: plain functions from ledger and tables to rows. Dagster is only a view of these."""
