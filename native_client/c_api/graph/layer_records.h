// The layers of a graph's network, without their weights. deepspeech/network/description has the equations.
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

  bool streams() const;                // whether it can be computed before the utterance ends
  std::size_t time_reduction() const;  // frames of its input for each frame of its output
};

// The name of a kind, as in "BidirectionalLSTM".
std::string_view name_of(LayerKind kind);

// The layers of a description, JSON that a graph holds. Throws Failure for anything else, and for unknown layers.
std::vector<LayerRecord> parse_layers(std::string_view description);

// The layers of DeepSpeech's own network, which graphs do not describe: the sizes of the biases give the units.
std::vector<LayerRecord> deepspeech_layers(const FrozenGraph& graph, std::size_t context);

// The name of a variable in a graph of any generation.
std::string variable_in(const FrozenGraph& graph, const std::string& name);

}  // namespace speech
