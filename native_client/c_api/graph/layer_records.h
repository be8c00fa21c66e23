// What a graph says of the layers of its network, beside their weights. deepspeech/network/description has the equations.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/graph/frozen_graph.h"

namespace speech {

enum class LayerKind {
  kContextWindow,
  kDense,
  kProjection,
  kLayerNormalization,
  kLstm,
  kBidirectionalLstm,
  kChunkedLstm,
  kConvolution,
  kFeedForward,
  kSelfAttention,
  kConvolutionModule,
};

struct LayerRecord {
  LayerKind kind;
  std::string name;                        // the scope of its variables
  std::map<std::string, double> settings;  // those that are null in the graph are left out

  bool has(const std::string& setting) const { return settings.count(setting) != 0; }
  double number(const std::string& setting) const { return settings.at(setting); }
  std::size_t size(const std::string& setting) const { return static_cast<std::size_t>(settings.at(setting)); }

  bool streams() const;                // whether it can be computed before the end of the utterance is there
  std::size_t time_reduction() const;  // the frames of its input that make one of its output
};

// The name of a kind, as in "BidirectionalLSTM".
std::string_view name_of(LayerKind kind);

// The layers of a description, JSON that a graph holds. Throws Failure for anything else, and for layers that this
// library does not know.
std::vector<LayerRecord> parse_layers(std::string_view description);

// The layers of DeepSpeech's own network, of which graphs say nothing: units are as many as the biases have numbers.
std::vector<LayerRecord> deepspeech_layers(const FrozenGraph& graph, std::size_t context);

// The name of a variable in a graph of any generation.
std::string variable_in(const FrozenGraph& graph, const std::string& name);

}  // namespace speech
