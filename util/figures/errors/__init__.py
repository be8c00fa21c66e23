"""Which errors there are: alignments, confusions, groups of utterances, and how sure their rates are."""
