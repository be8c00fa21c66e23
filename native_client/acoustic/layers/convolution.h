// A convolution over time and frequency, as a product with the patch of frames and frequencies that each output depends on;
// deepspeech/network/description/convolution.py has the equations.
#pragma once

#include <cstddef>

#include "acoustic/layers/numbers.h"
#include "acoustic/layers/product.h"

namespace acoustic {

struct ConvolutionSizes {
  std::size_t inputs;  // numbers of a frame; those of a frequency's input channels are adjacent
  std::size_t channels, input_channels, time, frequency, time_stride, frequency_stride;

  std::size_t input_frequencies() const { return inputs / input_channels; }
  std::size_t frequencies() const { return (input_frequencies() + frequency_stride - 1) / frequency_stride; }
  std::size_t patch() const { return time * frequency * input_channels; }
  std::size_t outputs() const { return frequencies() * channels; }
  std::size_t before() const { return (time - 1) / 2; }      // frames before its first one that an output depends on
  std::size_t lower() const { return (frequency - 1) / 2; }  // likewise
};

struct Convolution {
  ConvolutionSizes sizes;
  Product product;  // from patches to channels
  float low, high;

  // The state of an utterance between two runs.
  struct State {
    Numbers frames;  // that later outputs depend on
  };

  // Zeros before the first frame.
  State initial_state() const { return {Numbers(sizes.before() * sizes.inputs)}; }

  // Returns the outputs [rows, sizes.outputs()] that can be computed with the frames `values` [frames, inputs]; `last`
  // says that the utterance ends with them.
  Numbers run(const float* values, std::size_t frames, bool last, std::size_t threads, State& state) const;

 private:
  void run_rows(const float* padded, std::size_t rows, float* outputs) const;
};

}  // namespace acoustic
