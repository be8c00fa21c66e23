"""The front ends, which compute features; each is a module."""
