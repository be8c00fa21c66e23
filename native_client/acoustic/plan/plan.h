// Consecutive layers of a network that are computed without a pause between them, from the frames of a batch of
// utterances to their outputs.
#pragma once

#include <atomic>
#include <cstddef>
#include <variant>
#include <vector>

#include "acoustic/layers/conformer.h"
#include "acoustic/kernels.h"

namespace acoustic {

// A dense layer, whose outputs are limited to between `low` and `high`.
struct DenseStep {
  Product product;
  float low, high;
};

// The recurrence of an LSTM, from its gates to its hidden states.
struct RecurrentStep {
  std::variant<RecurrentLayer, Int8Weights, Bfloat16Weights> layer;
};

using NormalizationStep = Normalization;
using FeedForwardStep = FeedForward;

// e^x of each number, divided by their sum over the frame.
struct SoftmaxStep {
  std::size_t units;
};

using Step = std::variant<DenseStep, RecurrentStep, NormalizationStep, FeedForwardStep, SoftmaxStep>;

// Frames of one utterance of a batch. Its results do not depend, bit for bit, on the others.
struct PlannedUtterance {
  const float* inputs;  // [length, inputs]
  std::size_t length;
  const float* state;   // [state_size], before the first frame
  float* outputs;       // [length, outputs]
  float* new_state;     // [state_size], receives the state after the last frame
};

// The memory in which a batch is computed.
struct Workspace;

// Threads may share a plan.
class Plan {
 public:
  // Throws std::invalid_argument if there is no step, or if a step's inputs are not the previous step's outputs.
  explicit Plan(std::vector<Step> steps);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  std::size_t inputs() const { return inputs_; }    // numbers of a frame
  std::size_t outputs() const { return outputs_; }  // numbers of a frame
  // The cells and then the hidden states of each recurrence, padded to whole blocks; all are zero before an utterance.
  std::size_t state_size() const { return state_size_; }

  // Computes the outputs and the new states of all utterances, on at most `threads` threads.
  void run(const std::vector<PlannedUtterance>& utterances, std::size_t threads,
           Machine machine = machines().back()) const;

 private:
  std::vector<Step> steps_;
  mutable std::atomic<Workspace*> spare_{nullptr};  // kept for the next batch, perhaps of another thread
  std::size_t inputs_ = 0, outputs_ = 0, state_size_ = 0;
};

}  // namespace acoustic
