"""The words of a command line: how flags are spelled, files of flags, and the flags of predecessors."""
