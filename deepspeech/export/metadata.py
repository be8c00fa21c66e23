"""The metadata of exported graphs for their clients, in every file format."""

from __future__ import annotations

from ..network.deepspeech import UNNAMED_NETWORK
from ..options import ExportOptions
from ..serving.frozen.metadata import GRAPH_VERSION, serialize_alphabet, serialize_features, serialize_network
from ..util.output_units import ByteAlphabet
from ..util.text import Alphabet
from .formats import TrainedModel


def graph_metadata(model: TrainedModel, options: ExportOptions) -> dict[str, int | bytes]:
    """Return a graph's metadata, numbers and texts by their names in it; the numbers come first.

    `metadata_network` describes a network other than `deepspeech`. `metadata_features` describes features that
    published clients do not compute, with the statistics that normalize them, in place of the lengths of windows.
    """
    alphabet, features = model.alphabet, model.features
    told: dict[str, int | bytes] = {"metadata_version": GRAPH_VERSION, "metadata_sample_rate": features.sample_rate}
    if features.published:
        told |= {"metadata_feature_win_len": features.window_ms, "metadata_feature_win_step": features.step_ms}
    told |= {
        "metadata_beam_width": options.beam_width,
        "metadata_alphabet": serialize_alphabet(alphabet.output_labels),
    }
    if alphabet.unit not in (Alphabet.unit, ByteAlphabet.unit):
        told["metadata_output_unit"] = alphabet.unit.encode()
    if alphabet.unit_data:
        told["metadata_unit_data"] = alphabet.unit_data
    told["metadata_language"] = options.language.encode()
    if not features.published:
        told["metadata_features"] = serialize_features(features, model.statistics)
    if model.network.name != UNNAMED_NETWORK:
        told["metadata_network"] = serialize_network(model.network)
    return told
