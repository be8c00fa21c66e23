"""What servers that a browser on this machine can reach check of its requests."""
