"""The page to speak into, and what it is made of."""
