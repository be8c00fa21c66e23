"""Workers whose addresses only they know: how they announce them, and how connections are forwarded to them."""
