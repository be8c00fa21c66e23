"""The arguments of the Python interface: their checks, and audio in every accepted form."""
