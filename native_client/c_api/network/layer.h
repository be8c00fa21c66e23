// The interface of a network's layers, which run over the rows of an utterance, whole or piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace speech {

// A layer in one utterance, with its state.
class LayerRun {
 public:
  virtual ~LayerRun() = default;

  // Returns the outputs, [rows, outputs()], that can be computed with the next rows `values`, [rows, inputs]. `last`:
  // whether the utterance ends with them.
  virtual std::vector<float> run(std::vector<float> values, bool last, std::size_t threads) = 0;
};

// A layer with its weights. Threads may share one; it must outlive its runs.
class Layer {
 public:
  virtual ~Layer() = default;

  // The numbers in a row of its output.
  virtual std::size_t outputs() const = 0;

  // Begins an utterance.
  virtual std::unique_ptr<LayerRun> begin() const = 0;
};

// A layer whose outputs for a row depend only on that row.
class RowLayer : public Layer {
 public:
  std::unique_ptr<LayerRun> begin() const final { return std::make_unique<Run>(*this); }
  virtual std::vector<float> run(std::vector<float> values, std::size_t threads) const = 0;

 private:
  struct Run : LayerRun {
    explicit Run(const RowLayer& run_layer) : layer(run_layer) {}
    std::vector<float> run(std::vector<float> values, bool, std::size_t threads) override {
      return layer.run(std::move(values), threads);
    }
    const RowLayer& layer;
  };
};

// A layer of acoustic/layers with a state, in one utterance.
template <class Kernel>
class StatefulRun : public LayerRun {
 public:
  StatefulRun(const Kernel& kernel, std::size_t inputs)
      : kernel_(kernel), inputs_(inputs), state_(kernel.initial_state()) {}

  std::vector<float> run(std::vector<float> values, bool last, std::size_t threads) override {
    return kernel_.run(values.data(), values.size() / inputs_, last, threads, state_);
  }

 private:
  const Kernel kernel_;
  const std::size_t inputs_;
  typename Kernel::State state_;
};

}  // namespace speech
