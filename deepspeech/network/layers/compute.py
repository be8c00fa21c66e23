"""The settings with which a tower computes its layers: kernels, precision and threads."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import tensorflow as tf

from ...options import SessionOptions
from .native_ops import has_bfloat16_products, native_ops

AMPERE = (8, 0)
"""The lowest compute capability of GPUs that multiply bfloat16."""


class Kernels(Enum):
    """The kernels that compute the LSTM, the activations and the CTC loss."""

    NATIVE = "native"  # this package's own, on the processor
    CUDNN = "cudnn"  # NVIDIA's LSTM and TensorFlow's operations on a GPU; the loss on the processor, see `ctc_loss`
    TENSORFLOW = "tensorflow"  # TensorFlow's own operations, anywhere


@dataclass(frozen=True)
class Compute:
    """The kernels, precision and threads (0: TensorFlow's number) of a tower; weights, states and sums are float32.

    With bfloat16, a GPU computes LSTMs and their states in float16. From the global step `quantize_after` on, factors
    of products are rounded to 8 bits; None: never.
    """

    kernels: Kernels = Kernels.TENSORFLOW
    bfloat16: bool = False
    threads: int = 0
    quantize_after: int | None = None

    @property
    def dtype(self) -> Any:
        """The type of the factors of the matrix products, and of the layers' outputs."""
        return tf.bfloat16 if self.bfloat16 else tf.float32


def compute_on(device: str, options: SessionOptions, *, training: bool) -> Compute:
    """Return the settings for a device such as "/gpu:0".

    Evaluation is always in float32, as the exported model is.
    """
    kernels = Kernels.TENSORFLOW if native_ops() is None else Kernels.NATIVE
    if is_gpu(device):
        kernels = Kernels.CUDNN
    wanted = options.mixed_precision == "on" or (options.mixed_precision == "auto" and _gains(device, kernels))
    quantize_after = options.quantize_after if training and options.quantize_aware else None
    return Compute(kernels, training and wanted, options.intra_op_threads, quantize_after)


def is_gpu(device: str) -> bool:
    """Return whether a device, as TensorFlow names it, is a GPU."""
    return "gpu" in device.lower()


def _gains(device: str, kernels: Kernels) -> bool:
    """Return whether the device multiplies bfloat16 faster than float32."""
    if kernels is Kernels.CUDNN:
        index = int(device.rpartition(":")[2])
        gpu = tf.config.list_physical_devices("GPU")[index]
        capability = tf.config.experimental.get_device_details(gpu).get("compute_capability", (0, 0))
        return bool(capability >= AMPERE)
    return kernels is Kernels.NATIVE and has_bfloat16_products()
