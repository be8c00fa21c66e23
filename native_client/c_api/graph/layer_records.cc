#include "c_api/graph/layer_records.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "c_api/failure.h"
#include "c_api/graph/json.h"

namespace speech {
namespace {

constexpr double kLargestSetting = 1 << 20;
constexpr std::size_t kMostLayers = 1000;
constexpr std::size_t kLongestName = 1000;
constexpr std::int64_t kWidestBias = 1 << 18;

enum class SettingKind { kSize, kSizeOrNone, kNumberOrNull };  // kSizeOrNone: 0 if it is left out

struct Kind {
  LayerKind kind;
  std::string_view name;
  std::vector<std::pair<std::string_view, SettingKind>> settings;
};

const std::vector<Kind>& kinds() {
  constexpr SettingKind kSize = SettingKind::kSize, kSizeOrNone = SettingKind::kSizeOrNone;
  constexpr SettingKind kNumberOrNull = SettingKind::kNumberOrNull;
  static const std::vector<Kind> all = {
      {LayerKind::kContextWindow, "ContextWindow", {{"frames", kSize}}},
      {LayerKind::kDense, "Dense", {{"units", kSize}, {"clip", kNumberOrNull}}},
      {LayerKind::kProjection, "Projection", {{"units", kSize}}},
      {LayerKind::kLayerNormalization, "LayerNormalization", {}},
      {LayerKind::kLstm, "LSTM", {{"units", kSize}}},
      {LayerKind::kBidirectionalLstm, "BidirectionalLSTM", {{"units", kSize}}},
      {LayerKind::kChunkedLstm, "ChunkedLSTM", {{"units", kSize}, {"chunk", kSize}, {"offset", kSizeOrNone}}},
      {LayerKind::kConvolution,
       "Convolution",
       {{"channels", kSize},
        {"input_channels", kSize},
        {"time", kSize},
        {"frequency", kSize},
        {"time_stride", kSize},
        {"frequency_stride", kSize},
        {"clip", kNumberOrNull}}},
      {LayerKind::kFeedForward, "FeedForward", {{"units", kSize}}},
      {LayerKind::kSelfAttention, "SelfAttention", {{"heads", kSize}, {"chunk", kSize}, {"left", kSize}}},
      {LayerKind::kConvolutionModule, "ConvolutionModule", {{"before", kSize}, {"after", kSize}}},
  };
  return all;
}

const std::string kLstmOfDeepSpeech = "cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell";

// The names of the variables in graphs of the first generation.
const std::map<std::string, std::string>& older_names() {
  static const std::map<std::string, std::string> names = {
      {"layer_1/weights", "h1"},
      {"layer_1/bias", "b1"},
      {"layer_2/weights", "h2"},
      {"layer_2/bias", "b2"},
      {"layer_3/weights", "h3"},
      {"layer_3/bias", "b3"},
      {kLstmOfDeepSpeech + "/kernel", "lstm_fused_cell/kernel"},
      {kLstmOfDeepSpeech + "/bias", "lstm_fused_cell/bias"},
      {"layer_5/weights", "h5"},
      {"layer_5/bias", "b5"},
      {"layer_6/weights", "h6"},
      {"layer_6/bias", "b6"},
  };
  return names;
}

[[noreturn]] void refuse(int code, const std::string& why) { throw Failure(code, why); }

LayerRecord parse_layer(const Json& value) {
  const Json* const kind_name = value.find("layer");
  const Json* const name = value.find("name");
  if (!kind_name || !kind_name->text()) refuse(DS_ERR_FAIL_READ_PROTOBUF, "its network is not described in JSON");
  const auto kind = std::find_if(kinds().begin(), kinds().end(),
                                 [&](const Kind& each) { return each.name == *kind_name->text(); });
  if (kind == kinds().end()) {
    refuse(DS_ERR_MODEL_INCOMPATIBLE, "its network has a layer of the kind " + *kind_name->text() +
                                          ", which this library does not run; for others use the Python package");
  }
  const std::string damaged = "its network cannot be run: a record of its layers is not one of a ";
  const auto check = [&](bool condition) {
    if (!condition) refuse(DS_ERR_INVALID_SHAPE, damaged + std::string(kind->name));
  };
  check(name && name->text() && !name->text()->empty() && name->text()->size() <= kLongestName);
  const std::set<std::string> told(value.names().begin(), value.names().end());
  std::size_t known = 2;  // the kind and the name
  LayerRecord record{kind->kind, *name->text(), {}};
  for (const auto& [setting, wanted] : kind->settings) {
    const Json* const found = value.find(setting);
    if (!found && wanted == SettingKind::kSizeOrNone) {
      record.settings[std::string(setting)] = 0;
      continue;
    }
    ++known;
    const bool may_be_null = wanted == SettingKind::kNumberOrNull;
    check(found && (found->number() || (may_be_null && found->is_null())));
    if (found->is_null()) continue;
    const double number = *found->number();
    check((may_be_null || found->is_integer()) && number >= 0 && number <= kLargestSetting);
    record.settings[std::string(setting)] = number;
  }
  check(told.size() == known);
  return record;
}

// The limit of the clipped ReLUs, if there is one.
std::optional<float> find_clip(const FrozenGraph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.op != "Minimum" || node.inputs.size() != 2) continue;
    const auto limit = graph.single_float(node.inputs[1].substr(0, node.inputs[1].find(':')));
    if (limit) return *limit;
  }
  return std::nullopt;
}

}  // namespace

bool LayerRecord::streams() const {
  if (kind == LayerKind::kSelfAttention) return size("chunk") > 0;
  return kind != LayerKind::kBidirectionalLstm;
}

std::size_t LayerRecord::time_reduction() const {
  return kind == LayerKind::kConvolution ? std::max<std::size_t>(size("time_stride"), 1) : 1;
}

std::string_view name_of(LayerKind kind) {
  return std::find_if(kinds().begin(), kinds().end(), [&](const Kind& each) { return each.kind == kind; })->name;
}

std::vector<LayerRecord> parse_layers(std::string_view description) {
  const std::optional<Json> value = Json::parse(description);
  const Json* const layers = value ? value->find("layers") : nullptr;
  if (!layers || !layers->array()) refuse(DS_ERR_FAIL_READ_PROTOBUF, "its network is not described in JSON");
  if (layers->array()->size() > kMostLayers) refuse(DS_ERR_INVALID_SHAPE, "its network has too many layers");
  std::vector<LayerRecord> records;
  std::set<std::string> names;
  for (const Json& layer : *layers->array()) {
    records.push_back(parse_layer(layer));
    if (!names.insert(records.back().name).second) {
      refuse(DS_ERR_INVALID_SHAPE, "two layers of its network have the name " + records.back().name);
    }
  }
  const bool has_logits = !records.empty() && records.back().kind == LayerKind::kDense && !records.back().has("clip");
  if (!has_logits) refuse(DS_ERR_INVALID_SHAPE, "its network does not end in a dense layer that makes logits");
  return records;
}

std::vector<LayerRecord> deepspeech_layers(const FrozenGraph& graph, std::size_t context) {
  const auto units = [&](const std::string& layer) {
    const std::string bias = variable_in(graph, layer + "/bias");
    const Shape shape = graph.shape_of(bias);
    if (shape.size() != 1 || shape[0] < 1 || shape[0] > kWidestBias) {
      refuse(DS_ERR_INVALID_SHAPE, "its layers do not fit together: " + bias + " has shape " + in_words(shape));
    }
    return static_cast<double>(shape[0]);
  };
  const std::optional<float> clip = find_clip(graph);
  const auto hidden = [&](const std::string& name) {
    LayerRecord record{LayerKind::kDense, name, {{"units", units(name)}}};
    // Without a limit they are plain ReLUs.
    record.settings["clip"] = clip ? static_cast<double>(*clip) : std::numeric_limits<double>::infinity();
    return record;
  };
  const double gates = units(kLstmOfDeepSpeech);
  if (std::fmod(gates, 4) != 0) {
    refuse(DS_ERR_INVALID_SHAPE, "its layers do not fit together: " + variable_in(graph, kLstmOfDeepSpeech + "/bias") +
                                     " is not that of four gates");
  }
  return {
      {LayerKind::kContextWindow, "context", {{"frames", static_cast<double>(context)}}},
      hidden("layer_1"),
      hidden("layer_2"),
      hidden("layer_3"),
      {LayerKind::kLstm, kLstmOfDeepSpeech, {{"units", gates / 4}}},
      hidden("layer_5"),
      {LayerKind::kDense, "layer_6", {{"units", units("layer_6")}}},
  };
}

std::string variable_in(const FrozenGraph& graph, const std::string& name) {
  const auto older = older_names().find(name);
  return older != older_names().end() && !graph.has(name) && graph.has(older->second) ? older->second : name;
}

}  // namespace speech
