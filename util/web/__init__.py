"""What servers of HTTP share: secrets, limits, whom they answer, and the check that their libraries are installed."""
