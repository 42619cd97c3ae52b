"""The ledger over HTTP: roles, tokens, one writer per scope, and a typed client."""
