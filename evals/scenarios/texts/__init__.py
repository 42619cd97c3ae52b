"""Data only: one TOML file for each kind of place, with four wordings each (read by :mod:`evals.scenarios.wordings`)."""
