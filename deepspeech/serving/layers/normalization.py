"""Layer normalization."""

from ..._acoustic import Normalization, Step
from ...network.description import LayerNormalization
from .layer import Weights
from .plan import PlannedLayer
from .precision import Precision


class LayerNormalizationLayer(PlannedLayer):
    """Normalizes the numbers of each frame."""

    def __init__(self, layer: LayerNormalization, inputs: int, weights: Weights, precision: Precision) -> None:
        del inputs, precision
        super().__init__(Step.normalization(normalization_of(layer.name, weights)))


def normalization_of(name: str, weights: Weights) -> Normalization:
    """Return the normalization of a name, with its scale and its offset."""
    return Normalization(weights[f"{name}/scale"].copy(), weights[f"{name}/offset"].copy())
