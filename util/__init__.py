"""From files to batches, and from numbers to reports; imported as `deepspeech.util`."""
