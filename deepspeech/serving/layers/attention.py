"""The layers of a conformer block; `deepspeech.network.description.attention` gives their equations."""

from ... import _acoustic as native
from ...network.description import ConvolutionModule, FeedForward, SelfAttention
from .layer import KernelLayer, Weights
from .normalization import normalization_of
from .plan import PlannedLayer
from .precision import Precision
from .products import named_product


class FeedForwardLayer(PlannedLayer):
    """A feed-forward layer."""

    def __init__(self, layer: FeedForward, inputs: int, weights: Weights, precision: Precision) -> None:
        del inputs
        super().__init__(native.Step.feed_forward(_parts(layer.name, weights, precision)))


class SelfAttentionLayer(KernelLayer):
    """Attention, chunk by chunk or over a whole utterance."""

    def __init__(self, layer: SelfAttention, inputs: int, weights: Weights, precision: Precision) -> None:
        del inputs
        parts = _parts(layer.name, weights, precision)
        super().__init__(native.SelfAttention(parts, layer.heads, layer.chunk, layer.left))


class ConvolutionModuleLayer(KernelLayer):
    """A convolution module."""

    def __init__(self, layer: ConvolutionModule, inputs: int, weights: Weights, precision: Precision) -> None:
        del inputs
        super().__init__(
            native.ConvolutionModule(
                _parts(layer.name, weights, precision),
                weights[f"{layer.name}/depthwise/kernel"].copy(),
                weights[f"{layer.name}/depthwise/bias"].copy(),
                normalization_of(f"{layer.name}/second_normalization", weights),
                layer.after,
            )
        )


def _parts(name: str, weights: Weights, precision: Precision) -> native.Residual:
    """Return the parts that all of these layers have: a normalization, and the first and the last product."""
    inner, outer = (named_product(f"{name}/{each}", weights, precision) for each in ("inner", "outer"))
    return native.Residual(normalization_of(f"{name}/normalization", weights), inner, outer)
