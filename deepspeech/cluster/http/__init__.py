"""The coordinator over HTTP: application, client, protocol and status page."""
