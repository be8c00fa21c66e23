"""The experiment `auto`: measures lists of recordings, and chooses the settings accordingly."""
