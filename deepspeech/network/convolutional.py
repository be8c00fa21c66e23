"""A network with limited context: blocks of a conformer (Gulati et al., 2020) without attention.

Convolutions reduce the frames to one row for each `output_step` milliseconds (40 by default). Blocks follow, each of
half a feed-forward layer, a convolution module and the other half. A row depends on half a kernel of rows before it and
as many after it for each block, so the network streams with this look-ahead.

It cannot memorize more than its context. Trained on a handful of speakers, it recognizes single words by their sounds,
while a network that processes the whole recording memorizes those speakers' words as wholes.
"""

from .building import of_blocks
from .description import ConvolutionModule, FeedForward, Layer, LayerNormalization, Sizes

FEED_FORWARD = 2
"""The ratio of the width of a feed-forward layer's inner part to that of its inputs."""


def layers(sizes: Sizes) -> tuple[Layer, ...]:
    """Return the layers; each row between them has `sizes.n_hidden` numbers, the last layer `sizes.outputs`.

    Dropout is the first of the rates. Raise NetworkError for settings that do not fit.
    """
    return of_blocks(sizes, sizes.settings.convolutional.layers, _block)


def _block(sizes: Sizes, number: int) -> tuple[Layer, ...]:
    name, rate, units = f"block_{number}", sizes.dropout_rates[0], FEED_FORWARD * sizes.n_hidden
    near = sizes.settings.kernel - 1
    return (
        FeedForward(f"{name}/first", units, dropout=rate),
        ConvolutionModule(f"{name}/convolution", before=near // 2, after=near - near // 2, dropout=rate),
        FeedForward(f"{name}/second", units, dropout=rate),
        LayerNormalization(f"{name}/normalization"),
    )
