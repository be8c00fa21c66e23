"""Models in any of the formats that are served, each read and run by what it needs."""
