"""The confidences of recognized words."""
