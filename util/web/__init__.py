"""What servers of HTTP share: secrets, limits of requests, and the check that their libraries are installed."""
