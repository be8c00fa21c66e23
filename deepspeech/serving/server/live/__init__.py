"""Speech as it is spoken: one WebSocket connection, many utterances."""
