"""The arguments of a command line: the names of flags, files of flags, and the flags of predecessors."""
