"""The native operations of training (`native_client/training`), and their gradients."""

import ctypes
import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tensorflow as tf

Tensor = Any
logger = logging.getLogger(__name__)


@cache
def native_ops() -> Any | None:
    """Return the module of operations, or None, with one warning, if they cannot be loaded."""
    try:
        return tf.load_op_library(_library())
    except (OSError, tf.errors.OpError) as error:
        logger.warning(
            "training uses TensorFlow's operations, which are slower, as the native ones cannot be loaded: %s", error
        )
        return None


def loaded_ops() -> Any:
    """Return the module of operations, which must be loaded, as it is with `Kernels.NATIVE`."""
    ops = native_ops()
    assert ops is not None
    return ops


def has_bfloat16_products() -> bool:
    """Return whether this processor has instructions for bfloat16 products that the native operations use."""
    # TensorFlow must load the library first, or it will not register its operations.
    return native_ops() is not None and bool(ctypes.CDLL(_library()).deepspeech_has_bfloat16_products())


def _library() -> str:
    """Make TensorFlow's functions visible to the library, and return its path; raise OSError if there is no library."""
    folder = Path(tf.sysconfig.get_lib())
    framework = next(iter(sorted(folder.glob("libtensorflow_framework.*"))), None)
    if framework is not None:
        ctypes.CDLL(str(framework), mode=ctypes.RTLD_GLOBAL)
    found = find_spec("deepspeech._training")
    if found is None or found.origin is None:
        raise OSError("deepspeech._training has not been built")
    return found.origin


@tf.RegisterGradient("DeepspeechLstm")  # type: ignore[untyped-decorator]
def _lstm_gradient(operation: Any, hidden: Tensor, _gates: Tensor, _cells: Tensor, c: Tensor, h: Tensor) -> Any:
    _, weights, _, c_before, h_before, lengths = operation.inputs
    hidden_states, gates, cells, _, _ = operation.outputs
    gate_gradient, bias_gradient, c_gradient, h_gradient = loaded_ops().deepspeech_lstm_gradient(
        gates, cells, c_before, weights, lengths, hidden, c, h, threads=operation.get_attr("threads")
    )
    n_hidden = weights.shape[0]
    earlier = tf.concat([tf.cast(h_before, hidden_states.dtype)[None], hidden_states[:-1]], axis=0)
    weights_gradient = tf.matmul(
        tf.reshape(earlier, [-1, n_hidden]), tf.reshape(gate_gradient, [-1, 4 * n_hidden]), transpose_a=True
    )
    return gate_gradient, weights_gradient, bias_gradient, c_gradient, h_gradient, None


@tf.RegisterGradient("DeepspeechDropout")  # type: ignore[untyped-decorator]
def _dropout_gradient(operation: Any, gradient: Tensor) -> Any:
    attributes = {name: operation.get_attr(name) for name in ("rate", "threads")}
    return loaded_ops().deepspeech_dropout(gradient, operation.inputs[1], **attributes), None


@tf.RegisterGradient("DeepspeechLayerNormalization")  # type: ignore[untyped-decorator]
def _layer_normalization_gradient(operation: Any, gradient: Tensor) -> Any:
    values, scale, _ = operation.inputs
    attributes = {name: operation.get_attr(name) for name in ("epsilon", "threads")}
    return loaded_ops().deepspeech_layer_normalization_gradient(values, scale, gradient, **attributes)


@tf.RegisterGradient("DeepspeechActivation")  # type: ignore[untyped-decorator]
def _activation_gradient(operation: Any, gradient: Tensor) -> Any:
    attributes = {name: operation.get_attr(name) for name in ("clip", "rate", "threads")}
    product_gradient, bias_gradient = loaded_ops().deepspeech_activation_gradient(
        operation.outputs[0], gradient, **attributes
    )
    return product_gradient, bias_gradient, None


@tf.RegisterGradient("DeepspeechCtc")  # type: ignore[untyped-decorator]
def _ctc_gradient(operation: Any, losses: Tensor, _gradient: Tensor) -> Any:
    return operation.outputs[1] * losses[None, :, None], None, None
