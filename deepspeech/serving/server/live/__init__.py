"""Live speech: many utterances over one WebSocket connection."""
