"""The rows of the options, which are flags with checks, and the flags of predecessors that have no row."""
