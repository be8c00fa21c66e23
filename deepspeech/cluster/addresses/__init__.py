"""Where workers are, if only they know: their own addresses, and connections that are forwarded to them."""
