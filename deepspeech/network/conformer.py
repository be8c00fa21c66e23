"""The conformer (Gulati et al., 2020): attention for long distances, convolutions for short ones.

Convolutions reduce the frames to one row for each `output_step` milliseconds (40 by default). Blocks follow, each of
half a feed-forward layer, attention, a convolution module and the other half. With chunks, limited context before them
and convolutions over past rows only, the network streams. With `--bidirectional` each row depends on the whole
recording.
"""

from ..errors import NetworkError
from .building import of_blocks
from .description import ConvolutionModule, FeedForward, Layer, LayerNormalization, SelfAttention, Sizes

FEED_FORWARD = 4
"""The ratio of the width of a feed-forward layer's inner part to that of its inputs."""


def layers(sizes: Sizes) -> tuple[Layer, ...]:
    """Return the layers; each row between them has `sizes.n_hidden` numbers, the last layer `sizes.outputs`.

    Dropout is the first of the rates. Raise NetworkError for settings that do not fit.
    """
    heads, count = sizes.settings.conformer.heads, sizes.settings.conformer.layers
    if sizes.n_hidden % (2 * heads):
        raise NetworkError(
            f"--attention_heads={heads}: cannot share --n_hidden={sizes.n_hidden} in pairs of numbers; give a multiple "
            f"of {2 * heads} as --n_hidden, or another number of heads"
        )
    return of_blocks(sizes, count, _block)


def _block(sizes: Sizes, number: int) -> tuple[Layer, ...]:
    options, whole = sizes.settings.conformer, sizes.settings.bidirectional
    name, rate, units = f"block_{number}", sizes.dropout_rates[0], FEED_FORWARD * sizes.n_hidden
    near = sizes.settings.kernel - 1
    return (
        FeedForward(f"{name}/first", units, dropout=rate),
        SelfAttention(
            f"{name}/attention",
            options.heads,
            chunk=0 if whole else options.chunk,
            left=0 if whole else options.left,
            dropout=rate,
        ),
        ConvolutionModule(
            f"{name}/convolution",
            before=near // 2 if whole else near,
            after=near - near // 2 if whole else 0,
            dropout=rate,
        ),
        FeedForward(f"{name}/second", units, dropout=rate),
        LayerNormalization(f"{name}/normalization"),
    )
