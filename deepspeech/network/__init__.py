"""What a network is, said once, and how each of its layers is computed."""
