#include "c_api/graph/speech_model.h"

#include <cstdint>
#include <string_view>

#include "c_api/failure.h"
#include "shared/utf8.h"

namespace speech {
namespace {

constexpr std::int64_t kOldestVersion = 4, kNewestVersion = 6;  // DeepSpeech 0.6 to 0.9
constexpr std::int64_t kWidestFrame = 1 << 16;  // numbers of a frame with its neighbours
constexpr std::int64_t kMostSteps = 1 << 12;
constexpr std::int64_t kWidestBeam = 1 << 14;
constexpr std::int64_t kBeamWidth = 500, kSteps = 16;
constexpr char kWordPieces[] = "wordpieces";

[[noreturn]] void refuse(int code, const std::string& why) { throw Failure(code, why); }

void check_kind(const FrozenGraph& graph) {
  for (const char* const name : {"input_node", "logits"}) {
    if (!graph.has(name)) {
      refuse(DS_ERR_MODEL_INCOMPATIBLE, std::string("is not a speech model, as it has no node ") + name);
    }
  }
  graph.integer("metadata_version", 0, kOldestVersion, kNewestVersion);
  if (graph.has("metadata_output_unit") && graph.text("metadata_output_unit") != kWordPieces) {
    refuse(DS_ERR_MODEL_INCOMPATIBLE,
           "has the output unit " + graph.text("metadata_output_unit") +
               ", but this library knows characters, bytes and word pieces; use the Python package");
  }
}

// The labels as uint16 count, then for each uint16 index, uint16 length and UTF-8 bytes; little-endian.
std::vector<std::string> read_labels(const FrozenGraph& graph) {
  if (!graph.has("metadata_alphabet")) {
    refuse(DS_ERR_INVALID_ALPHABET, "holds no alphabet, as it is older than DeepSpeech 0.6");
  }
  const std::string data = graph.text("metadata_alphabet");
  std::string_view left = data;
  const auto take_number = [&left] {
    if (left.size() < 2) refuse(DS_ERR_INVALID_ALPHABET, "its alphabet is truncated");
    const auto low = static_cast<unsigned char>(left[0]), high = static_cast<unsigned char>(left[1]);
    left.remove_prefix(2);
    return static_cast<std::size_t>(low | high << 8);
  };
  std::vector<std::string> labels(take_number());
  for (std::size_t count = labels.size(); count > 0; --count) {
    const std::size_t index = take_number(), length = take_number();
    if (length > left.size()) refuse(DS_ERR_INVALID_ALPHABET, "its alphabet is truncated");
    if (index >= labels.size() || !labels[index].empty() || length == 0) {
      refuse(DS_ERR_INVALID_ALPHABET, "its alphabet is damaged");
    }
    labels[index] = left.substr(0, length);
    left.remove_prefix(length);
  }
  if (labels.empty() || !left.empty()) refuse(DS_ERR_INVALID_ALPHABET, "its alphabet is damaged");
  return labels;
}

// The shape [batch, n_steps, 2 * context + 1, coefficients] of the network's input.
Shape input_shape(const FrozenGraph& graph) {
  const Shape shape = graph.shape_attribute(*graph.find("input_node"));
  if (shape.size() != 4 || shape[2] < 1 || shape[2] % 2 == 0 || shape[3] < 1 || shape[2] > kWidestFrame / shape[3]) {
    refuse(DS_ERR_INVALID_SHAPE,
           "its input_node has shape " + in_words(shape) + ", which is not that of windows of features");
  }
  return shape;
}

// If a graph does not describe its network, only the names of nodes show that it was trained with --layer_norm.
void check_unnamed(const FrozenGraph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.name.find("LayerNorm") != std::string::npos) {
      refuse(DS_ERR_MODEL_INCOMPATIBLE, "has layer normalization, which is not supported");
    }
  }
}

// The layers, with the context window at their beginning, which must be that of the input.
std::vector<LayerRecord> read_layers(const FrozenGraph& graph, const Shape& input) {
  const auto context = static_cast<std::size_t>(input[2] / 2);
  if (!graph.has("metadata_network")) {
    check_unnamed(graph);
    return deepspeech_layers(graph, context);
  }
  std::vector<LayerRecord> layers = parse_layers(graph.text("metadata_network"));
  const bool has_window = layers.front().kind == LayerKind::kContextWindow;
  if ((has_window ? layers.front().size("frames") : 0) != context) {
    refuse(DS_ERR_INVALID_SHAPE, "its input_node has shape " + in_words(input) + ", which its network does not fit");
  }
  return layers;
}

}  // namespace

SpeechModel read_speech_model(const FrozenGraph& graph) {
  check_kind(graph);
  const Shape shape = input_shape(graph);
  const std::int64_t steps = shape[1] > 0 && shape[1] <= kMostSteps ? shape[1] : kSteps;
  SpeechModel model;
  model.labels = read_labels(graph);
  model.word_pieces = graph.has("metadata_output_unit");  // no other unit gets here
  model.features = read_features(graph, shape[3]);
  model.layers = read_layers(graph, shape);
  model.context = static_cast<std::size_t>(shape[2] / 2);
  if (model.layers.front().kind == LayerKind::kContextWindow) model.layers.erase(model.layers.begin());
  model.row_seconds = model.features.step_seconds;
  for (const LayerRecord& layer : model.layers) model.row_seconds *= static_cast<double>(layer.time_reduction());
  model.n_steps = static_cast<std::size_t>(graph.integer("metadata_n_steps", steps, 1, kMostSteps));
  model.beam_width = static_cast<std::size_t>(graph.integer("metadata_beam_width", kBeamWidth, 1, kWidestBeam));
  if (graph.has("metadata_language")) model.language = shared::as_utf8(graph.text("metadata_language"));
  model.calibrations = read_calibrations(graph);
  return model;
}

std::string why_whole(const SpeechModel& model) {
  if (model.features.normalization == NormalizationKind::kUtterance) {
    return "its features are normalized by the whole recording; transcribe whole recordings, or use a model with "
           "--normalize_features=running";
  }
  for (const LayerRecord& layer : model.layers) {
    if (layer.streams()) continue;
    return "its layer " + layer.name + " is a " + std::string(name_of(layer.kind)) +
           ", which needs the whole recording; transcribe whole recordings, or use a model whose network streams";
  }
  return "";
}

}  // namespace speech
