"""The report: one closed document in, one self-contained page and its tables out."""
