"""A network for small and large data: convolutions that reduce the frames, then normalized LSTMs.

Two or four convolutions reduce the frequencies to a quarter, and the frames to one row for each `output_step`
milliseconds (40 by default). LSTMs follow, each with layer normalization and an optional projection (after Graves et
al., "Speech recognition with deep recurrent neural networks", 2013, and Amodei et al., "Deep Speech 2", 2016).

* One-directional LSTMs stream, with a look-ahead of a few frames.
* Bidirectional LSTMs need the whole recording, and are more accurate.
* LSTMs that are bidirectional in chunks stream chunk by chunk, and are nearly as accurate, above all if the chunks of
  every second layer end in the middle of the others', so that each row sees some later rows.
"""

from ..errors import NetworkError
from .building import intermediate, subsampling
from .description import LSTM, BidirectionalLSTM, ChunkedLSTM, Dense, Layer, LayerNormalization, Projection, Sizes


def layers(sizes: Sizes) -> tuple[Layer, ...]:
    """Return the layers; each direction of an LSTM has `sizes.n_hidden` units, the last layer `sizes.outputs`.

    Each normalization has dropout of the first of the rates. Raise NetworkError for settings that do not fit.
    """
    options, rate = sizes.settings.lstm, sizes.dropout_rates[0]
    losses = intermediate(sizes, options.layers)
    made: list[Layer] = [*subsampling(sizes), LayerNormalization("normalization_0", dropout=rate)]
    for number in range(1, options.layers + 1):
        made.append(_recurrent(sizes, f"lstm_{number}", shifted=number % 2 == 0))
        if options.projection:
            made.append(Projection(f"projection_{number}", options.projection))
        made.append(LayerNormalization(f"normalization_{number}", dropout=rate))
        made += losses.get(number, ())
    return (*made, Dense("labels", units=sizes.outputs))


def _recurrent(sizes: Sizes, name: str, *, shifted: bool) -> Layer:
    if sizes.settings.bidirectional:
        return BidirectionalLSTM(name, sizes.n_hidden)
    options = sizes.settings.lstm
    if options.offset >= max(1, options.chunk):
        raise NetworkError(
            f"--lstm_chunk_offset={options.offset}: must be less than --lstm_chunk, which is {options.chunk}"
        )
    if not options.chunk:
        return LSTM(name, sizes.n_hidden)
    return ChunkedLSTM(name, sizes.n_hidden, options.chunk, options.offset if shifted else 0)
