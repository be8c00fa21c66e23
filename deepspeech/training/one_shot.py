"""One-shot inference: an audio file and a checkpoint in, text out."""

from ..checkpoints.identity import ModelIdentity
from ..checkpoints.store import Checkpoints
from ..decoder.of_alphabet import make_decoder
from ..errors import FlagError
from ..options import Options
from ..util.audio import read_audio
from ..util.features import front_end
from .graph import Session, build_training_graph, prepare_process, session_config
from .towers import GraphSettings, compute_devices


def transcribe(options: Options) -> str:
    """Return the transcript of `options.one_shot_infer`, by the best or else newest checkpoint.

    The audio may have any rate, channel count and format that libsndfile reads. Raise FlagError for a
    folder, and AudioError, CheckpointError or DecoderError for audio, a checkpoint or a decoder that cannot be used.
    """
    assert options.one_shot_infer is not None
    if options.one_shot_infer.is_dir():
        raise FlagError(
            f"--one_shot_infer={options.one_shot_infer}: is a folder; name a recording, or export the model, and "
            f"transcribe all of them with deepspeech --model MODEL {options.one_shot_infer}"
        )
    prepare_process(options.session)
    samples = read_audio(options.one_shot_infer, options.features.sample_rate)
    features = options.features.stacking(front_end(options.features).extract(samples))
    if not len(features):
        return ""
    alphabet = options.load_alphabet()
    decoder = make_decoder(alphabet, options.language_model)
    identity = ModelIdentity(alphabet, options.features, options.model)
    settings = GraphSettings.of(options, identity.network, trains=False)
    graph = build_training_graph(compute_devices()[:1], settings)
    checkpoints = Checkpoints(options.checkpoint_folder, options.checkpoints, graph.graph, identity)
    with Session(graph=graph.graph, config=session_config(options.session)) as session:
        checkpoints.restore(session, checkpoints.choose("Transcribing", trained=options.trains), to_use=True)
        (tower,) = graph.evaluate_towers
        feed = {tower.features: features[None], tower.lengths: [len(features)]}
        posteriors = session.run(tower.posteriors, feed)
    return decoder.decode(posteriors[:, 0])[0].text
