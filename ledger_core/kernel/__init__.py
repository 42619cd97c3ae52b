"""Pure core of the ledger: canonical bytes, digests, statements, positions, chain, errors. No clock, no randomness, no I/O."""
