"""The server: live streams over WebSocket, and recordings with OpenAI's interface, from exported models."""
