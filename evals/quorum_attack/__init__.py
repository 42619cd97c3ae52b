"""How often attacks pass a quorum rule, and what the rule costs honest witnesses."""
