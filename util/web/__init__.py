"""Shared code of HTTP servers: secrets, limits, allowed origins, and the check that their libraries are installed."""
