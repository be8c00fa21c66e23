"""What a row of the options is: a flag with its check; and the flags of predecessors that have no row."""
