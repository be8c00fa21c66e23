"""A cluster of any size on paper: simulated workers, network and failures around the coordinator as it is."""
