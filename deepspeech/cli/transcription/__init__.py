"""The input and the output of the `deepspeech` command."""
