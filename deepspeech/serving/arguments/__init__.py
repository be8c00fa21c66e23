"""What the Python interface takes: its arguments, checked, and audio in every form."""
