// A network: it computes posteriors from rows of features, each with its neighbours.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "c_api/graph/frozen_graph.h"
#include "c_api/graph/speech_model.h"
#include "c_api/network/layer.h"
#include "c_api/weights/product.h"

namespace speech {

// Threads may share one, as it holds nothing but weights; it must outlive its runs.
class Network {
 public:
  // Takes the weights of a graph. The first and the last layer are computed with floats in any precision, as features
  // differ widely in size, and logits decide. Throws Failure if the weights do not fit together.
  Network(const FrozenGraph& graph, const SpeechModel& model, Precision precision);

  // The numbers in a window of features, and in a row of posteriors.
  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }

  // One utterance.
  class Run {
   public:
    explicit Run(const Network& network);

    // The posteriors [rows, outputs()] that can be computed with the next `windows`, [windows, inputs()]. `last`:
    // whether the utterance ends with them. The posteriors are the same but for rounding however windows are cut into
    // pieces; a network that needs whole utterances must get each in one piece.
    std::vector<float> run(std::vector<float> windows, bool last);

   private:
    const Network& network_;
    std::vector<std::unique_ptr<LayerRun>> layers_;
  };

 private:
  std::size_t inputs_, outputs_;
  std::vector<std::unique_ptr<const Layer>> layers_;
  std::size_t cores_;
};

}  // namespace speech
