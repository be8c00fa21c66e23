"""What turns files into batches and numbers into reports; imported as `deepspeech.util`."""
