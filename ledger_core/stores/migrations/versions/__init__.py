"""One file a version, `NNNN_what_changed.py`, each for both databases."""
