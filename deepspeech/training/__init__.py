"""The training of one process: its data, graph, steps, scoring, reports and checkpoints."""
