"""One process's training: its data, graph, steps, scoring, reports and checkpoints."""
