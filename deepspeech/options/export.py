"""The export of a model."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .decoding import CLIENT_BEAM_WIDTH
from .rows.checks import OneOf, one_to
from .rows.flag import flag

EXPORT_FORMATS = GRAPH, ONNX, SHERPA, TFLITE = "graph", "onnx", "sherpa", "tflite"
"""The formats of exported models, which `deepspeech.export.formats` writes."""

MODEL_FILE = "exported graph, .pb or .pbmm, .onnx or .tflite file, or its folder"
"""The models that commands run, in their help."""

LARGEST_BEAM_WIDTH = 1 << 14
"""The largest beam width in an exported model; `Model.setBeamWidth` accepts any."""

LARGEST_N_STEPS = 1 << 12
"""The most time steps per run of an exported model."""

LARGEST_BATCH_SIZE = 1 << 12
"""The most utterances per run of an exported model."""


@dataclass(frozen=True)
class ExportOptions:
    """Where and how to export the model; without a directory, nothing is exported."""

    title: ClassVar[str] = "Export"
    directory: Path | None = flag(
        None,
        "folder to export the model to, with its model card, model.md",
        name="export_dir",
        decides_result=False,
    )
    format: str = flag(
        GRAPH,
        "format of the model: graph (output_graph.pb), onnx (model.onnx), sherpa (for sherpa-onnx), or tflite "
        "(output_graph.tflite)",
        name="export_format",
        check=OneOf(EXPORT_FORMATS),
        decides_result=False,
    )
    features: bool = flag(
        False,
        "with export_format onnx, let the model compute the features, so that its input is samples",
        name="export_features",
        decides_result=False,
    )
    quantize: bool = flag(
        False,
        "with export_format tflite, keep weights of inner layers as 8-bit integers",
        name="export_quantize",
        decides_result=False,
    )
    version: int = flag(1, "version of the model, for its card", name="export_version")
    remove: bool = flag(False, "delete an older export in export_dir", name="remove_export", decides_result=False)
    use_seq_length: bool = flag(True, "let the graph stop at the end of each utterance")
    n_steps: int = flag(
        16, "time steps per run of the graph; more steps raise the latency", check=one_to(LARGEST_N_STEPS)
    )
    batch_size: int = flag(
        1,
        "utterances per run of the graph; clients need 1",
        name="export_batch_size",
        check=one_to(LARGEST_BATCH_SIZE),
    )
    beam_width: int = flag(
        CLIENT_BEAM_WIDTH,
        "default beam width of clients",
        name="export_beam_width",
        check=one_to(LARGEST_BEAM_WIDTH),
    )
    language: str = flag("", "language of the model, such as en-US", name="export_language")
    model_name: str = flag("", "name of the model, for its card", name="export_model_name", decides_result=False)
    author: str = flag("", "author of the model, for its card", name="export_author_id", decides_result=False)
    contact: str = flag("", "contact of its author, for its card", name="export_contact_info", decides_result=False)
    license: str = flag("", "license of the model, for its card", name="export_license", decides_result=False)
    description: str = flag(
        "", "further text of its card, in Markdown", name="export_description", decides_result=False
    )

    def notices(self, *, of_clients: bool) -> Iterator[str]:
        """Yield a line for each given flag without effect; `of_clients`: published clients run the network's graph."""
        fixed = {
            "--nouse_seq_length": not self.use_seq_length and self.format != TFLITE,
            "--export_batch_size": self.batch_size != 1,
        }
        given = ", ".join(flag for flag, is_given in fixed.items() if is_given)
        if given and (self.format in (ONNX, SHERPA) or not of_clients):
            model = "this network's graph" if self.format == GRAPH else f"a model of --export_format={self.format}"
            yield f"{given}: without effect, as {model} takes any number of utterances, with their lengths"
