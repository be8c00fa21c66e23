// The layers of a conformer block (Gulati et al., "Conformer", 2020), each of which adds its result to its inputs;
// deepspeech/network/description/attention.py has the equations.
#pragma once

#include <cstddef>

#include "acoustic/layers/numbers.h"
#include "acoustic/layers/product.h"
#include "acoustic/layers/rows.h"

namespace acoustic {

struct FeedForward {
  Normalization normalization;
  Product inner, outer;

  // Adds to values [rows, width].
  void run(float* values, std::size_t rows, std::size_t threads, Machine machine = machines().back()) const;
};

struct ConvolutionModule {
  Normalization normalization;
  Product inner;  // to twice the width
  Depthwise depthwise;
  Normalization second_normalization;
  Product outer;
  std::size_t after;  // rows after its own that an output depends on; the other taps are rows before it

  // The state of an utterance between two runs.
  struct State {
    Numbers waiting;  // rows whose outputs need later rows
    Numbers gated;    // gated rows that later outputs depend on
  };

  // Zeros before the first row.
  State initial_state() const;

  // Returns the outputs [rows, width] that can be computed with the rows `values`; `last` says that the utterance ends
  // with them.
  Numbers run(const float* values, std::size_t rows, bool last, std::size_t threads, State& state) const;
};

// With several heads and rotary positions, chunk by chunk, or, with a chunk of 0, over a whole utterance.
struct SelfAttention {
  Normalization normalization;
  Product inner;  // to queries, keys and values
  Product outer;
  std::size_t heads, chunk, left;

  // The state of an utterance between two runs.
  struct State {
    Numbers waiting;            // the rows of the incomplete chunk
    Numbers keys, values;       // of the visible rows before it, [rows, width]; keys are rotated
    std::size_t position = 0;   // the number of rows before the waiting ones
  };

  std::size_t width() const { return normalization.width; }

  // The state before the first row.
  State initial_state() const { return {}; }

  // Like `run` of a convolution module.
  Numbers run(const float* values, std::size_t rows, bool last, std::size_t threads, State& state) const;

 private:
  Numbers attended(const Numbers& queries, const State& state, std::size_t before, std::size_t threads) const;
};

}  // namespace acoustic
