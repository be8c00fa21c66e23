"""From transcripts to figures: errors of words and characters, their sums over a corpus, and reports of them."""
