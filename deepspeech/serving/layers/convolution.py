"""Convolutions over time and frequency."""

from math import inf

from ... import _acoustic as native
from ...network.description import Convolution
from .layer import KernelLayer, Weights
from .precision import Precision
from .products import product_of


class ConvolutionLayer(KernelLayer):
    """A convolution, computed as a product with the patch of frames and frequencies that each output depends on."""

    def __init__(self, layer: Convolution, inputs: int, weights: Weights, precision: Precision) -> None:
        kernel, bias = weights[f"{layer.name}/kernel"], weights[f"{layer.name}/bias"]
        product = native.Product(product_of(kernel.reshape(-1, layer.channels), bias, precision), layer.channels)
        sizes = native.ConvolutionSizes(
            inputs,
            layer.channels,
            layer.input_channels,
            layer.time,
            layer.frequency,
            layer.time_stride,
            layer.frequency_stride,
        )
        low, high = (-inf, inf) if layer.clip is None else (0.0, layer.clip)
        super().__init__(native.Convolution(product, sizes, low, high))
