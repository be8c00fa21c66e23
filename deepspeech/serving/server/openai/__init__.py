"""The transcription of recordings, with OpenAI's interface."""
