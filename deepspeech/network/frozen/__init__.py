"""Networks in exported graphs: those that they support, and the two formats of graphs."""
