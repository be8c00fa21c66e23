"""A network that hears what is near and nothing else: blocks of a conformer (Gulati et al., 2020) without attention.

Convolutions make one row of 40 ms from as many frames as that takes; blocks follow, each of half a feed-forward
layer, a convolution module and the other half. A row depends on as many rows before it as after it, half a kernel for
each block, so the network streams with a look-ahead of that. What it does not hear it cannot learn by heart: trained on
a handful of speakers, it tells single words by their sounds, where a network that hears all of a recording at once
learns those speakers' words as wholes.
"""

from .building import of_blocks
from .description import ConvolutionModule, FeedForward, Layer, LayerNormalization, Sizes

FEED_FORWARD = 2
"""How many times as wide the inner part of a feed-forward layer is."""


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
