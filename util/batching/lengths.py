"""The lengths, in frames, that batches are padded to."""


def longest_of_batch(frames: int) -> int:
    """Return the length that a batch is padded to, whose longest utterance has this many frames: the same."""
    return frames


def few_lengths(frames: int) -> int:
    """Return the least of 16 lengths an octave that `frames` fit into: at most 1 in 16 more frames."""
    step = 1 << max(frames.bit_length() - 5, 0)
    return -(-frames // step) * step
