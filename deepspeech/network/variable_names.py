"""The names of the model's variables, now and in the first generation. This module needs no TensorFlow."""

LSTM_SCOPE = "cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell"
"""Where DeepSpeech 0.9 keeps the LSTM's `kernel` and `bias`."""

SEED_NAMES = {
    f"layer_{number}/{ours}": f"{theirs}{number}"
    for number in (1, 2, 3, 5, 6)
    for ours, theirs in (("weights", "h"), ("bias", "b"))
} | {f"{LSTM_SCOPE}/{part}": f"lstm_fused_cell/{part}" for part in ("kernel", "bias")}
"""The variables' names in the first generation (DeepSpeech 0.1 to 0.4)."""
