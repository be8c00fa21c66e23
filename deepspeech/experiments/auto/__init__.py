"""The experiment `auto`: what is measured of lists of recordings, and what is chosen by that."""
