#include "c_api/network/network.h"

#include <map>
#include <string>
#include <utility>

#include "c_api/failure.h"
#include "c_api/network/conformer.h"
#include "c_api/network/convolution.h"
#include "c_api/network/lstm.h"
#include "c_api/network/row_layers.h"
#include "c_api/weights/weight_reader.h"
#include "shared/softmax.h"
#include "shared/threads.h"

namespace speech {
namespace {

constexpr std::size_t kFramesWorthThreads = 64;  // fewer are computed by the calling thread alone

using MadeLayer = std::unique_ptr<const Layer>;

template <class Kind>
MadeLayer make(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision) {
  return std::make_unique<const Kind>(record, inputs, weights, precision);
}

MadeLayer make_layer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision) {
  static const std::map<LayerKind, decltype(&make<DenseLayer>)> makers = {
      {LayerKind::kDense, &make<DenseLayer>},
      {LayerKind::kProjection, &make<DenseLayer>},
      {LayerKind::kLayerNormalization, &make<LayerNormalizationLayer>},
      {LayerKind::kLstm, &make<LstmLayer>},
      {LayerKind::kBidirectionalLstm, &make<TwoLstmsLayer>},
      {LayerKind::kChunkedLstm, &make<TwoLstmsLayer>},
      {LayerKind::kConvolution, &make<ConvolutionLayer>},
      {LayerKind::kFeedForward, &make<FeedForwardLayer>},
      {LayerKind::kSelfAttention, &make<SelfAttentionLayer>},
      {LayerKind::kConvolutionModule, &make<ConvolutionModuleLayer>},
  };
  const auto found = makers.find(record.kind);
  if (found == makers.end()) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its layer " + record.name + " cannot be run: it is a " +
                                            std::string(name_of(record.kind)) + " after the first layer");
  }
  return found->second(record, inputs, weights, precision);
}

}  // namespace

Network::Network(const FrozenGraph& graph, const SpeechModel& model, Precision precision)
    : inputs_((2 * model.context + 1) * model.features.width()),
      outputs_(model.labels.size() + 1),
      cores_(shared::usable_cores()) {
  WeightReader weights(graph);
  std::size_t width = inputs_;
  for (const LayerRecord& record : model.layers) {
    const bool inner = &record != &model.layers.front() && &record != &model.layers.back();
    layers_.push_back(make_layer(record, width, weights, inner ? precision : Precision::kFloat32));
    width = layers_.back()->outputs();
    if (width < 1 || width > kWidestLayer) {
      throw Failure(DS_ERR_INVALID_SHAPE, "its layer " + record.name + " has " + std::to_string(width) + " units");
    }
  }
  if (width != outputs_) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its alphabet has " + std::to_string(model.labels.size()) +
                                            " labels, but the network has " + std::to_string(width) + " outputs");
  }
}

Network::Run::Run(const Network& network) : network_(network) {
  for (const auto& layer : network.layers_) layers_.push_back(layer->begin());
}

std::vector<float> Network::Run::run(std::vector<float> windows, bool last) {
  const std::size_t count = windows.size() / network_.inputs_;
  const std::size_t threads = count >= kFramesWorthThreads ? network_.cores_ : 1;
  std::vector<float> values = std::move(windows);
  for (const auto& layer : layers_) values = layer->run(std::move(values), last, threads);
  const std::size_t outputs = network_.outputs_;
  for (std::size_t place = 0; place < values.size(); place += outputs) shared::softmax(&values[place], outputs);
  return values;
}

}  // namespace speech
