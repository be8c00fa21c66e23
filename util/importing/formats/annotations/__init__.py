"""What is said in a recording, from a file beside it: plain text, or tiers of annotations with times."""
