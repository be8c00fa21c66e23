"""The web page of the server, for live speech and recordings."""
