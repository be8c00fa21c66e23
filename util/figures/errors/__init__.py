"""Analysis of errors: alignments, confusions, levels of recordings, and confidence intervals of rates."""
