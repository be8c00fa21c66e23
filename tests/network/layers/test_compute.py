import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from program import Program

from deepspeech.network.layers import compute, native_ops
from deepspeech.network.layers.attention import swish
from deepspeech.network.layers.compute import Compute, Kernels, compute_on
from deepspeech.network.layers.dense import activation
from deepspeech.network.layers.dropout import seeded_dropout, skip_dropout_seeds
from deepspeech.network.layers.layer_normalization import normalized
from deepspeech.options import SessionOptions

v1 = tf.compat.v1


def test_native_operations_that_do_not_load_are_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.so"
    broken.write_text("not a library")
    monkeypatch.setattr(native_ops, "_library", lambda: str(broken))
    with caplog.at_level(logging.WARNING):
        assert native_ops.native_ops.__wrapped__() is None  # without what was found before
    (record,) = caplog.records
    assert "slower" in record.message
    assert "broken.so" in record.message


def test_without_native_operations_tensorflows_own_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "native_ops", lambda: None)
    assert compute_on("/cpu:0", SessionOptions(), training=True) == Compute(Kernels.TENSORFLOW)


def test_the_processor_uses_the_native_operations_and_bfloat16_only_in_training() -> None:
    for precision, trains in (("on", True), ("off", False), ("auto", native_ops.has_bfloat16_products())):
        options = SessionOptions(intra_op_threads=3, mixed_precision=precision)
        assert compute_on("/cpu:0", options, training=True) == Compute(Kernels.NATIVE, bfloat16=trains, threads=3)
        assert not compute_on("/cpu:0", options, training=False).bfloat16


def test_a_gpu_uses_cudnn() -> None:
    chosen = compute_on("/job:worker/task:1/gpu:0", SessionOptions(mixed_precision="on"), training=True)
    assert chosen == Compute(Kernels.CUDNN, bfloat16=True)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_an_activation_and_its_gradients_are_those_of_tensorflows_operations(bfloat16: bool) -> None:
    found = []
    for kernels in (Kernels.NATIVE, Kernels.TENSORFLOW):
        random, chosen = np.random.default_rng(1), Compute(kernels, bfloat16=bfloat16)
        with tf.Graph().as_default(), v1.Session() as session:
            products = tf.cast(random.normal(size=(90, 21)), chosen.dtype)
            bias = tf.cast(random.normal(size=21), tf.float32)
            outputs = activation(products, bias, 20.0 if bfloat16 else 1.5, 0.0, chosen)  # no ties in bfloat16
            total = tf.reduce_sum(tf.cast(outputs, tf.float32) ** 2)
            fetched = session.run([tf.cast(x, tf.float32) for x in (outputs, *tf.gradients(total, [products, bias]))])
            found.append(fetched)
    for ours, theirs in zip(*found, strict=True):
        assert np.abs(theirs).max() > 1
        assert np.linalg.norm(ours - theirs) < (0.02 if bfloat16 else 1e-6) * np.linalg.norm(theirs)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_swish_and_its_gradient_are_those_of_tensorflows_operations(bfloat16: bool) -> None:
    found = []
    for kernels in (Kernels.NATIVE, Kernels.TENSORFLOW):
        random, chosen = np.random.default_rng(2), Compute(kernels, bfloat16=bfloat16, threads=2)
        with tf.Graph().as_default(), v1.Session() as session:
            values = tf.cast(random.normal(size=(150, 21)) * 4, chosen.dtype)
            outputs = swish(values, chosen)
            total = tf.reduce_sum(tf.cast(outputs, tf.float32) ** 2)
            fetched = session.run([tf.cast(x, tf.float32) for x in (outputs, *tf.gradients(total, [values]))])
            found.append(fetched)
    for ours, theirs in zip(*found, strict=True):
        assert np.abs(theirs).max() > 1
        assert np.linalg.norm(ours - theirs) < (0.02 if bfloat16 else 1e-6) * np.linalg.norm(theirs)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_layer_normalization_and_its_gradients_are_those_of_tensorflows_operations(bfloat16: bool) -> None:
    found = []
    for kernels in (Kernels.NATIVE, Kernels.TENSORFLOW):
        random, chosen = np.random.default_rng(3), Compute(kernels, bfloat16=bfloat16, threads=2)
        with tf.Graph().as_default(), v1.Session() as session:
            values = tf.cast(random.normal(size=(150, 21)) * 4 + 1, chosen.dtype)
            scale, offset = (tf.constant(random.normal(size=21), tf.float32) for _ in range(2))
            outputs = normalized(values, scale, offset, chosen)
            total = tf.reduce_sum(tf.cast(outputs, tf.float32) ** 3)
            fetched = session.run(
                [tf.cast(x, tf.float32) for x in (outputs, *tf.gradients(total, [values, scale, offset]))]
            )
            found.append(fetched)
    for ours, theirs in zip(*found, strict=True):
        assert np.abs(theirs).max() > 1
        assert np.linalg.norm(ours - theirs) < (0.02 if bfloat16 else 1e-5) * np.linalg.norm(theirs)


def test_dropout_falls_differently_in_every_step_and_the_same_for_the_same_seed() -> None:
    def steps(seed: int) -> Any:
        with tf.Graph().as_default(), v1.Session() as session:
            v1.set_random_seed(seed)
            outputs = activation(tf.ones([40, 50]), tf.zeros([50]), 20.0, 0.5, Compute(Kernels.NATIVE))
            return [session.run(outputs) for _ in range(2)]

    first, second = steps(1)
    assert 0.4 < (first == 0).mean() < 0.6
    assert 0.4 < (first != second).mean() < 0.6
    np.testing.assert_array_equal(first, steps(1)[0])
    assert (first != steps(2)[0]).any()


@pytest.mark.parametrize("kernels", [Kernels.NATIVE, Kernels.TENSORFLOW])
@pytest.mark.parametrize("bfloat16", [False, True])
def test_the_gradient_of_dropout_is_dropped_where_the_values_are(kernels: Kernels, bfloat16: bool) -> None:
    chosen = Compute(kernels, bfloat16=bfloat16)
    with tf.Graph().as_default(), v1.Session() as session:
        values = tf.ones([300, 37], chosen.dtype)
        outputs = seeded_dropout(values, 0.25, chosen)
        assert outputs.shape == values.shape
        (slopes,) = tf.gradients(outputs, [values], [2 * values])
        kept, doubled = session.run([tf.cast(x, tf.float32) for x in (outputs, slopes)])
    np.testing.assert_array_equal(doubled, 2 * kept)
    assert np.unique(kept) == pytest.approx([0, 4 / 3], rel=0.01)
    assert 0.22 < (kept == 0).mean() < 0.28


def test_a_session_that_goes_on_after_some_steps_drops_what_one_that_ran_them_drops() -> None:
    def fourth(skipped: int) -> Any:
        with tf.Graph().as_default(), v1.Session() as session:
            v1.set_random_seed(1)
            outputs = tf.ones([40, 50])
            for _ in range(2):
                outputs = activation(outputs, tf.zeros([50]), 20.0, 0.5, Compute(Kernels.NATIVE))
            skip_dropout_seeds(session, skipped)
            return [session.run(outputs) for _ in range(4 - skipped)][-1]

    in_one_go = fourth(0)
    for skipped in (1, 3):
        np.testing.assert_array_equal(fourth(skipped), in_one_go)


@pytest.mark.parametrize("precision", ["on", "off"])
def test_training_twice_with_the_same_seed_gives_the_same_weights(
    tiny_corpus: Any, tmp_path: Path, precision: str
) -> None:
    weights = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        program = Program(tiny_corpus, tmp_path / name)
        assert program.run(*program.training(epoch=4, mixed_precision=precision)).code == 0
        (newest,) = program.checkpoints.glob("train-*.index")
        weights.append(tf.train.load_checkpoint(str(newest.with_suffix(""))))
    names = weights[0].get_variable_to_shape_map()
    assert "layer_1/weights/Adam" in names
    for name in names:
        np.testing.assert_array_equal(*(reader.get_tensor(name) for reader in weights))


def test_the_activations_of_millions_of_rows_are_computed() -> None:
    """A batch of long utterances has as many behind a convolution, whose frequencies are rows, too."""
    rows = 64 * 65_536 + 65
    with tf.Graph().as_default(), v1.Session() as session:
        products = tf.cast(tf.range(rows), tf.float32)[:, None]
        outputs = activation(products, tf.ones([1]), 1e9, 0.0, Compute(Kernels.NATIVE))
        assert session.run(tf.reduce_all(tf.equal(outputs, products + 1)))
