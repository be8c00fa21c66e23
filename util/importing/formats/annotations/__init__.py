"""The transcript of a recording from a file beside it: plain text, or tiers of annotations with times."""
