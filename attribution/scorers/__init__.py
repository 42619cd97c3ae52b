"""Teacher-forced scores of a layout under masks."""
