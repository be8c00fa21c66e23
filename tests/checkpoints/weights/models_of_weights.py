"""Random weights of every network, with the description of their model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deepspeech.checkpoints.identity import DESCRIPTION_FORMAT, ModelIdentity
from deepspeech.checkpoints.weights.model_weights import ModelWeights, by_layers
from deepspeech.network import Dense, Layer, Projection, Sizes, register
from deepspeech.options import ModelOptions, NetworkOptions
from deepspeech.options.model import PROVIDED, ConformerOptions, LSTMOptions
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import DEVIATION, MEAN
from deepspeech.util.text import Alphabet

ALPHABET = Alphabet(tuple(" abcde"))
SMALL = NetworkOptions(channels=2, lstm=LSTMOptions(layers=2), conformer=ConformerOptions(layers=1, heads=2))
NORMALIZED = FeatureOptions(feature_type="fbank", normalization="running")

DEEPSPEECH = ModelIdentity(ALPHABET, FeatureOptions(), ModelOptions(n_hidden=12))
IDENTITIES = {
    **{
        name: ModelIdentity(ALPHABET, NORMALIZED, ModelOptions(n_hidden=12, network=name, settings=SMALL))
        for name in PROVIDED
    },
    "deepspeech": DEEPSPEECH,
    "both_directions": ModelIdentity(
        ALPHABET, NORMALIZED, ModelOptions(n_hidden=12, network="lstm", settings=replace(SMALL, bidirectional=True))
    ),
}


@register("own")
def own(sizes: Sizes) -> tuple[Layer, ...]:
    """Return a layer with the name of the features' statistics, and the labels."""
    return (Projection("features", units=3), Dense("labels", units=sizes.outputs))


IDENTITIES["own"] = ModelIdentity(ALPHABET, NORMALIZED, ModelOptions(network="own"))


def weights_of(identity: ModelIdentity = DEEPSPEECH, *, seed: int = 1, origin: str = "weights.h5") -> ModelWeights:
    """Return random weights of a model; the first is the smallest number, the second a negative zero."""
    generator = np.random.default_rng(seed)
    values = {name: generator.normal(size=shape).astype(np.float32) for name, shape in identity.network.shapes.items()}
    if identity.features.normalized:
        values |= {name: generator.random(identity.features.coefficients, np.float32) + 1 for name in (MEAN, DEVIATION)}
    first = next(iter(values.values())).reshape(-1)
    first[:2] = np.array([0x00000001, 0x80000000], np.uint32).view(np.float32)
    description = {"format": DESCRIPTION_FORMAT, **identity.to_json()}
    return ModelWeights(origin, by_layers(identity.network, values), description)
