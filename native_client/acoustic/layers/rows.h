// Functions of single rows of numbers, for layers around products.
#pragma once

#include <cstddef>

#include "shared/machines.h"

namespace acoustic {

using shared::Machine;
using shared::machines;

// Layer normalization (Ba et al., 2016).
struct Normalization {
  const float* scale;   // [width]
  const float* offset;  // [width]
  std::size_t width;
};

// outputs [rows, width] = (inputs - mean) / sqrt(variance + 1e-5) * scale + offset, row by row; may be the inputs.
void normalize(const Normalization& layer, const float* inputs, std::size_t rows, float* outputs,
               Machine machine = machines().back());

// Rows of `width` numbers, which begin `stride` numbers apart; `stride` is at least the width.
struct Rows {
  std::size_t count, width, stride;
};

// Replaces each number z by z * sigmoid(z), and moves the rows next to each other: they become [count, width].
void swish(float* values, const Rows& rows, Machine machine = machines().back());

// outputs [count, width] = the first `width` numbers of each row * sigmoid(the next `width` numbers).
void gate(const float* values, const Rows& rows, float* outputs, Machine machine = machines().back());

// sums [count, width] += values * factor.
void add(const float* values, const Rows& rows, float factor, float* sums, Machine machine = machines().back());

// A convolution over time of each number of a row separately.
struct Depthwise {
  const float* kernel;  // [taps, width]
  const float* bias;    // [width]
  std::size_t taps, width;
};

// outputs [rows, width] = bias + the sum over taps of inputs [row + tap] * kernel [tap].
void convolve(const Depthwise& layer, const float* inputs, std::size_t rows, float* outputs,
              Machine machine = machines().back());

}  // namespace acoustic
