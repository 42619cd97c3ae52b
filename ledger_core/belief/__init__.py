"""From statements to belief: a pure function of the set of statements and one policy."""
