"""The epistemic ledger: what was observed, kept apart from what a model inferred."""
