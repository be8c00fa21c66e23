"""Recordings in, transcripts out, with OpenAI's interface."""
