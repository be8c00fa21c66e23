"""Simulates a cluster of any size: simulated workers, network and failures around the real coordinator."""
