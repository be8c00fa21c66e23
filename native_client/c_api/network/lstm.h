// LSTMs: the product with the inputs is computed for all rows at once, the product with the state row by row.
#pragma once

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "c_api/graph/layer_records.h"
#include "c_api/network/layer.h"
#include "c_api/weights/weight_reader.h"

namespace speech {

// Cell and hidden state, each [units, padded to whole blocks]; empty before the first row.
struct LstmState {
  std::vector<float> cell, hidden;
};

// The weights of an LSTM; deepspeech/network/description/recurrent.py has its equations.
class Lstm {
 public:
  // Adds `forget_bias` to the bias of the forget gate.
  Lstm(const std::string& name, std::size_t inputs, std::size_t units, float forget_bias, WeightReader& weights,
       Precision precision);

  // The hidden states [rows, units] for values [rows, inputs]; `state` becomes the state after the last row.
  std::vector<float> run(const std::vector<float>& values, LstmState& state, std::size_t threads) const;

  std::size_t units() const { return units_; }

 private:
  struct Read;
  Lstm(const Read& read, Precision precision);

  using Recurrence = std::variant<Int16Blocks, Bfloat16Blocks, Int8Blocks>;
  static Recurrence recurrence_of(const Matrix& matrix, Precision precision);

  std::size_t units_;
  Product input_gates_;
  Recurrence recurrence_;
};

// An LSTM from the first row to the last.
class LstmLayer : public Layer {
 public:
  LstmLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision)
      : lstm_(record.name, inputs, record.size("units"), weights.forget_bias(), weights, precision) {}

  std::size_t outputs() const override { return lstm_.units(); }
  std::unique_ptr<LayerRun> begin() const override;

 private:
  Lstm lstm_;
};

// Two LSTMs, whose outputs are concatenated: one runs from the first row to the last, the other over each chunk
// separately, from its last row to its first. In a BidirectionalLSTM, the whole utterance is the only chunk.
class TwoLstmsLayer : public Layer {
 public:
  TwoLstmsLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return 2 * forward_.units(); }
  std::unique_ptr<LayerRun> begin() const override;

 private:
  class Run;
  // The rows of a chunk that has `missing` rows less than the others. Throws Failure if there are none.
  static std::size_t checked_size(const LayerRecord& record, std::size_t missing);
  static constexpr std::size_t kWholeUtterance = std::numeric_limits<std::size_t>::max();

  std::size_t inputs_, chunk_, first_chunk_;  // the first chunk may have fewer rows than the others
  Lstm forward_, backward_;
};

}  // namespace speech
