"""The parameters that determine a run's result: written as text, read back into options, and compared between runs."""
