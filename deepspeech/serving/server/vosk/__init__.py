"""The protocol of Vosk's server, for its clients: telephone systems, conferences and programs."""
