"""Wordings beside the first forty, for families whose criteria need more."""
