// The network `deepspeech`: windows of features in, posteriors out.
//
// Three clipped-ReLU layers look at a frame and its neighbours, an LSTM runs over time, a clipped-ReLU layer and a
// linear one follow (Hannun et al., "Deep Speech", 2014, with an LSTM in place of the bidirectional recurrence).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acoustic/kernels.h"
#include "c_api/graph/frozen_graph.h"
#include "c_api/graph/speech_model.h"
#include "c_api/recognition/large_pages.h"

namespace speech {

// A product with weights in the blocks that the kernels take, plus a bias.
class Product {
 public:
  Product() = default;

  // Of weights [rows, columns] and a bias [columns]; with `gates`, columns are the four gates of an LSTM's units.
  Product(const float* weights, const float* bias, std::size_t rows, std::size_t columns, bool gates);

  // The outputs [frames, width()] of inputs [frames, rows], limited to between `low` and `high`.
  std::vector<float> run(const std::vector<float>& inputs, float low, float high, std::size_t threads) const;

  // Columns, filled up to whole blocks.
  std::size_t width() const { return blocks_ * acoustic::kColumns; }

 private:
  std::size_t rows_ = 0, blocks_ = 0;
  Weights<float> weights_, bias_;
};

// The cell and the hidden state of the LSTM, each [units and filling]; empty before the first frame.
struct NetworkState {
  std::vector<float> cell, hidden;
};

// Threads may share one, as it holds nothing but weights.
class Network {
 public:
  // Takes the weights of a graph. Throws Failure if they do not fit together, or are not finite.
  Network(const FrozenGraph& graph, const SpeechModel& model);

  // Numbers of a window, and of the posteriors of a frame.
  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }

  // The posteriors [frames, outputs] of windows [frames, inputs], and the state after them. However windows are cut into
  // pieces, the posteriors are the same but for rounding.
  std::vector<float> run(const std::vector<float>& windows, NetworkState& state) const;

 private:
  struct Dense {
    Product product;
    std::size_t units = 0;
  };

  Dense dense(const FrozenGraph& graph, const std::string& name, const std::string& older, std::size_t inputs);
  void read_lstm(const FrozenGraph& graph, std::size_t inputs);
  std::vector<float> run_dense(const Dense& layer, const std::vector<float>& inputs, bool clipped,
                               std::size_t threads) const;
  std::vector<float> run_lstm(const std::vector<float>& inputs, NetworkState& state, std::size_t frames,
                              std::size_t threads) const;

  std::size_t inputs_, outputs_;
  float clip_;
  Dense layer_1_, layer_2_, layer_3_, layer_5_, layer_6_;
  Product input_gates_;
  std::size_t units_ = 0, blocks_ = 0;  // of the LSTM
  Weights<std::int16_t> recurrent_;
  Weights<float> scales_;
  std::size_t cores_;
};

}  // namespace speech
