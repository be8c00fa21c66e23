"""The weights that a model uses, and the errors if they do not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models_of_weights import DEEPSPEECH, IDENTITIES, NORMALIZED, SMALL, weights_of

from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.checkpoints.weights.fitting import initial_statistics, initial_weights
from deepspeech.checkpoints.weights.label_mapping import shared_labels
from deepspeech.checkpoints.weights.model_weights import ModelWeights
from deepspeech.errors import CheckpointError
from deepspeech.options import ModelOptions
from deepspeech.options.model import ConformerOptions, LSTMOptions
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import DEVIATION, MEAN
from deepspeech.util.output_units import ByteAlphabet
from deepspeech.util.text import Alphabet

LAST = ("layer_6/weights", "layer_6/bias")


def complaint(source: ModelWeights, identity: ModelIdentity, drop_layers: int = 0) -> str:
    with pytest.raises(CheckpointError) as caught:
        initial_weights(source, identity, drop_layers)
    return str(caught.value)


def initial(identity: ModelIdentity, names: tuple[str, ...] = LAST) -> dict[str, np.ndarray]:
    return {name: np.full(identity.network.shapes[name], 7, np.float32) for name in names}


@pytest.mark.parametrize("name", IDENTITIES)
def test_all_weights_and_statistics_of_the_same_model_are_taken(name: str) -> None:
    identity = IDENTITIES[name]
    source = weights_of(identity)
    taken = initial_weights(source, identity, 0)
    taken |= initial_statistics(source, identity.features)
    assert set(taken) == set(source.values)
    assert all(taken[each] is source.values[each] for each in taken)


def test_another_number_of_labels_is_explained() -> None:
    other = replace(DEEPSPEECH, alphabet=Alphabet(tuple(" abcdxyz")))
    assert complaint(weights_of(), other) == (
        "weights.h5: layer_6/weights is (12, 7) in the file and (12, 9) in this model: the last layer has one unit per "
        "label and one for the blank, so the file was trained with 6 labels, this alphabet has 8 (its alphabet is "
        "' abcde', but this run's is ' abcdxyz'); give its alphabet with --alphabet_config_path, or start that layer "
        "anew with --drop_source_layers=1, which keeps 10 of 12 weights, or with --map_labels, which also keeps the "
        "rows of 5 labels that both have"
    )
    unknown = replace(weights_of(), description={})
    assert "was trained with 6 labels, this alphabet has 8; give" in complaint(unknown, other)
    assert "map_labels" not in complaint(unknown, other)


def test_as_many_labels_that_are_others_are_explained() -> None:
    other = replace(DEEPSPEECH, alphabet=Alphabet(tuple("xyzuvw")))
    told = complaint(weights_of(), other)
    assert "its alphabet is ' abcde', but this run's is 'xyzuvw'" in told
    assert "map_labels" not in told
    in_bytes = replace(weights_of(), description={**weights_of().description, "output_unit": "bytes"})
    assert "its labels are bytes, this run's characters" in complaint(in_bytes, DEEPSPEECH)


def test_another_size_is_explained_with_the_layers_that_fit() -> None:
    wider = replace(DEEPSPEECH, model=ModelOptions(n_hidden=16))
    assert "trained with --n_hidden=12, but this run has --n_hidden=16; give the" in complaint(weights_of(), wider)
    told = complaint(replace(weights_of(), description={}), wider)
    assert "layer_1/weights is (494, 12) in the file and (494, 16) in this model; give --n_hidden=12" in told
    other_features = replace(DEEPSPEECH, features=FeatureOptions(feature_type="fbank"))
    assert "layer_1/weights is (494, 12) in the file and (1520, 12)" in complaint(weights_of(), other_features)
    source = weights_of()
    fewer = [layer for layer in source.layers if layer.name not in ("layer_5", "layer_6")]
    told = complaint(replace(source, layers=tuple(fewer)), DEEPSPEECH)
    assert "has no variable layer_5/weights" in told
    assert "start the last 2 layers anew with --drop_source_layers=2, which keeps 8 of 12 weights" in told


@pytest.mark.parametrize(
    ("name", "changed", "drop", "named"),
    [
        (
            "conformer",
            {"settings": replace(SMALL, conformer=ConformerOptions(layers=1, heads=3))},
            0,
            "--attention_heads=2",
        ),
        (
            "conformer",
            {"settings": replace(SMALL, conformer=ConformerOptions(layers=1, heads=3))},
            1,
            "--attention_heads=2",
        ),
        ("lstm", {"settings": replace(SMALL, lstm=LSTMOptions(layers=1))}, 0, "--lstm_layers=2"),
        ("lstm", {"settings": replace(SMALL, lstm=LSTMOptions(layers=1))}, 1, "--lstm_layers=2"),
        ("lstm", {"settings": replace(SMALL, lstm=LSTMOptions(layers=1))}, 2, ""),
        ("lstm", {"settings": replace(SMALL, lstm=LSTMOptions(layers=3))}, 0, "--lstm_layers=2"),
        ("lstm", {"settings": replace(SMALL, bidirectional=True)}, 0, "--bidirectional=False"),
        ("deepspeech", {"relu_clip": 5.0}, 0, "--relu_clip=20.0"),
        ("deepspeech", {"relu_clip": 5.0}, 6, ""),
    ],
)
def test_another_network_is_refused_with_its_flag_but_where_its_layers_are_dropped(
    name: str, changed: dict[str, Any], drop: int, named: str
) -> None:
    theirs = IDENTITIES[name]
    ours = replace(theirs, model=replace(theirs.model, **changed))
    if not named:
        initial_weights(weights_of(theirs), ours, drop)
        return
    told = complaint(weights_of(theirs), ours, drop)
    assert f"trained with {named}, but this run has --" in told
    assert told.endswith("give the same value, or begin the layers that differ untrained with --drop_source_layers")
    last = [each for each in ours.network.shapes if ours.network.layer_of(each) is ours.network.layers[-1]]
    with pytest.raises(CheckpointError, match=named):
        initial_weights(weights_of(theirs), ours, 0, initial(ours, tuple(last)))


@pytest.mark.parametrize(
    ("whole", "streams"),
    [
        (IDENTITIES["both_directions"], {"bidirectional": False, "lstm": LSTMOptions(layers=2, chunk=4, offset=2)}),
        (IDENTITIES["conformer"], {"conformer": replace(SMALL.conformer, chunk=5, left=10)}),
    ],
)
def test_a_network_in_chunks_begins_with_the_weights_of_one_that_sees_more(
    whole: ModelIdentity, streams: dict[str, Any]
) -> None:
    settings = replace(whole.model.settings, **streams)
    in_chunks = replace(whole, model=replace(whole.model, settings=settings))
    assert in_chunks.network.to_json() != whole.network.to_json()
    assert set(initial_weights(weights_of(whole), in_chunks, 0)) == set(whole.network.shapes)
    assert set(initial_weights(weights_of(in_chunks), whole, 0)) == set(whole.network.shapes)


def test_a_network_that_is_not_described_is_explained_without_a_guess() -> None:
    bidirectional, source = IDENTITIES["both_directions"], weights_of(IDENTITIES["lstm"])
    told = complaint(replace(source, description={}), bidirectional)
    assert "has no variable" in told and "give its --network and its flags, such as --lstm_layers, --bidir" in told


def test_weights_of_no_network_of_ours_are_explained() -> None:
    (layer, *_) = weights_of().layers
    foreign = replace(layer, weights={"dense/kernel": np.ones((3, 4))})
    told = complaint(ModelWeights("keras.h5", (foreign,), {}), DEEPSPEECH)
    assert "has none of this model's weights: it has dense/kernel, this model layer_1/weights" in told
    doubled = replace(layer, weights={name: value.astype(np.float64) for name, value in layer.weights.items()})
    assert "layer_1/weights is of type float64" in complaint(ModelWeights("a.h5", (doubled,), {}), DEEPSPEECH, 5)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused_unless_they_are_dropped(wrong: float) -> None:
    source = weights_of()
    source.values["layer_6/bias"][2:4] = wrong
    told = complaint(source, DEEPSPEECH)
    assert told.startswith("weights.h5: layer_6/bias holds numbers that are not finite, 2 of 7; use earlier weights")
    assert "layer_6/bias" not in initial_weights(source, DEEPSPEECH, 1)
    normalized = weights_of(IDENTITIES["lstm"])
    normalized.values[MEAN][0] = wrong
    with pytest.raises(CheckpointError, match="features/mean holds numbers that are not finite"):
        initial_statistics(normalized, NORMALIZED)


def test_shared_labels_keep_their_rows_wherever_they_are() -> None:
    other = replace(DEEPSPEECH, alphabet=Alphabet(tuple("xd ay")))
    source = weights_of()
    taken = initial_weights(source, other, 0, initial(other))
    assert set(taken) == set(source.values)
    for name in LAST:
        theirs, ours = source.values[name], taken[name]
        for place, label in enumerate(" abcde"):
            if label in "d a":
                np.testing.assert_array_equal(ours[..., "xd ay".index(label)], theirs[..., place])
        np.testing.assert_array_equal(ours[..., -1], theirs[..., -1])
        assert (ours[..., [0, 4]] == 7).all()
    also = initial_weights(source, other, 2, initial(other))
    assert set(source.values) - set(also) == {"layer_5/weights", "layer_5/bias"}


def test_labels_are_only_mapped_where_some_are_shared() -> None:
    other = replace(DEEPSPEECH, alphabet=Alphabet(tuple("xyz")))
    in_bytes = replace(DEEPSPEECH, alphabet=ByteAlphabet())
    unknown = replace(weights_of(), description={})
    fewer = replace(weights_of(), description={**weights_of().description, "alphabet": list(" abc")})
    for source, identity, told in (
        (fewer, replace(DEEPSPEECH, alphabet=Alphabet(tuple("xd ay"))), r"layer_6/weights is \(12, 7\) in the file"),
        (weights_of(), other, "' abcde', shares no label with this run's of characters, 'xyz'"),
        (weights_of(), in_bytes, "shares no label with this run's of bytes"),
        (unknown, DEEPSPEECH, "does not contain its alphabet, so --map_labels cannot be used"),
    ):
        with pytest.raises(CheckpointError, match=told):
            initial_weights(source, identity, 0, initial(identity))
    assert shared_labels("abc", "cb").shared == 2


def test_other_features_are_refused_and_unknown_ones_believed() -> None:
    lstm = IDENTITIES["lstm"]
    with pytest.raises(CheckpointError, match=r"are 80 fbank .*normalized \(running\), but this run's are 26"):
        initial_statistics(weights_of(lstm), FeatureOptions())
    unknown = replace(weights_of(lstm), description={})
    assert set(initial_statistics(unknown, lstm.features)) == {MEAN, DEVIATION}
    assert initial_statistics(unknown, FeatureOptions()) == {}
    with pytest.raises(CheckpointError, match="its statistics are not of 26 features"):
        initial_statistics(unknown, FeatureOptions(normalization="global"))
    assert initial_statistics(replace(weights_of(), description={}), FeatureOptions(normalization="global")) == {}


@pytest.mark.parametrize("name", ["deepspeech", "lstm"])
def test_features_of_other_windows_are_refused_and_told_apart(name: str) -> None:
    source, features = weights_of(IDENTITIES[name]), IDENTITIES[name].features
    for ours, told in (
        (
            replace(features, window_ms=30),
            f"this run's are {features.coefficients} {features.feature_type} .* of windows of 30 ms",
        ),
        (
            replace(features, step_ms=15),
            "every 15 ms.*; give the same --feature_type, --feature_win_len, --feature_win_step",
        ),
    ):
        with pytest.raises(CheckpointError, match=told):
            initial_statistics(source, ours)


def test_weights_of_either_front_end_of_deepspeech_begin_a_run_with_the_other() -> None:
    assert initial_statistics(weights_of(), FeatureOptions(feature_type="psf", sample_rate=8000)) == {}


def test_labels_of_several_characters_are_told_apart() -> None:
    theirs, ours = (replace(DEEPSPEECH, alphabet=Alphabet(labels)) for labels in (("ab", "c"), ("a", "bc")))
    assert "its alphabet is 'ab, c', but this run's is 'a, bc'" in complaint(weights_of(theirs), ours)
