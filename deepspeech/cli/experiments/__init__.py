"""The options of experiments, of runs that are repeated, and of what `auto` chooses."""
