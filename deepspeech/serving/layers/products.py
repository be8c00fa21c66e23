"""Products with weights in blocks of columns, as floats, as bfloat16 or as integers of 8 bits."""

from math import inf

from ..._acoustic import Bfloat16Dense as Bfloat16Product
from ..._acoustic import Dense as FloatProduct
from ..._acoustic import Int8Dense as Int8Product
from ..._acoustic import Product, Step
from ...network.description import Dense, Projection
from .blocks import Blocks, bfloat16_weights, columns_in_blocks, float32_weights, int8_weights
from .layer import Array, Weights
from .plan import PlannedLayer
from .precision import Precision

AnyDense = FloatProduct | Bfloat16Product | Int8Product
"""Products of rows with weights, plus a bias."""


class DenseLayer(PlannedLayer):
    """A dense layer, its weights in blocks."""

    def __init__(self, layer: Dense | Projection, inputs: int, weights: Weights, precision: Precision) -> None:
        del inputs
        product = product_of(weights[f"{layer.name}/weights"], weights[f"{layer.name}/bias"], precision)
        clip = layer.clip if isinstance(layer, Dense) else None
        low, high = (-inf, inf) if clip is None else (0.0, clip)
        super().__init__(Step.dense(product, layer.units, low, high))


def product_of(weights: Array, bias: Array, precision: Precision) -> AnyDense:
    """Return the product with weights [rows, columns] plus a bias [columns]."""
    return product_of_blocks(columns_in_blocks(weights), columns_in_blocks(bias[None]), precision)


def named_product(name: str, weights: Weights, precision: Precision) -> Product:
    """Return the product with the weights and the bias of a name."""
    bias = weights[f"{name}/bias"]
    return Product(product_of(weights[f"{name}/weights"], bias, precision), len(bias))


def product_of_blocks(weights: Blocks, bias: Blocks, precision: Precision) -> AnyDense:
    """Return the product with weights in blocks plus a bias in blocks of one row."""
    filled_bias = float32_weights(bias).reshape(-1)
    if precision is Precision.INT8:
        return Int8Product(*int8_weights(weights), len(weights[0]), filled_bias)
    if precision is Precision.BFLOAT16:
        return Bfloat16Product(bfloat16_weights(weights), len(weights[0]), filled_bias)
    return FloatProduct(float32_weights(weights), filled_bias)
