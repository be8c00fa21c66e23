"""The lengths, in frames, to which batches are padded."""


def longest_of_batch(frames: int) -> int:
    """Return the padded length of a batch whose longest utterance has this many frames: the same number."""
    return frames


def few_lengths(frames: int) -> int:
    """Return the smallest of 16 lengths per octave that `frames` fit into: at most 1 in 16 more frames."""
    step = 1 << max(frames.bit_length() - 5, 0)
    return -(-frames // step) * step
