"""Synthesized speech: sentences of a grammar, and the voices that read them aloud."""
