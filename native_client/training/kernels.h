// The kernels of training, in addition to TensorFlow's large matrix products: the LSTM's recurrence, forwards and
// backwards, the layers' activation with dropout, layer normalization, the gradient of swish, the CTC loss, and the
// joining of gradients from elsewhere. Every array is dense and row-major; `Number` is float or Bfloat16. Sums are
// floats unless stated otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/machines.h"

namespace training {

using shared::kLanes;
using shared::Machine;
using shared::machines;

// The upper half of a float.
struct Bfloat16 {
  std::uint16_t bits;
};

struct Extent {
  std::size_t time;   // frames
  std::size_t batch;  // utterances
  std::size_t units;  // of the hidden layer
};

// An LSTM over time, without peepholes (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000).
// From the cell c and the hidden state h of the previous frame, with U the weights, b the bias and a the gate inputs:
//
//   i = sigmoid(a_i + h U_i + b_i)    g = tanh(a_g + h U_g + b_g)
//   f = sigmoid(a_f + h U_f + b_f)    o = sigmoid(a_o + h U_o + b_o)
//   c' = f c + i g                    h' = o tanh(c')
//
// Gates are in the order input i, candidate g, forget f, output o. Beyond an utterance's length, its states do not
// change and its outputs are zero.
template <typename Number>
struct LstmForward {
  Extent extent;
  const Number* gate_inputs;   // [time, batch, 4, units]: the product of the inputs and their weights
  const Number* weights;       // [units, 4, units], of the hidden state
  const float* bias;           // [4, units]
  const float* cell_before;    // [batch, units]
  const float* hidden_before;  // [batch, units]
  const std::int32_t* lengths;  // [batch], frames
  Number* hidden;              // [time, batch, units]
  Number* gates;               // [time, batch, 4, units]: after their activation; may be `gate_inputs`
  float* cells;                // [time, batch, units]
  float* cell_after;           // [batch, units]
  float* hidden_after;         // [batch, units]
};

// The gradients of `LstmForward`'s inputs, given those of its outputs. From the last frame to the first, with dh the
// gradient of h', the sum of those from the layers above and from the next frame's gates, and dc that of c':
//
//   dc += dh o (1 - tanh(c')^2)    di = dc g i (1 - i)    dg = dc i (1 - g^2)    df = dc c f (1 - f)
//   do = dh tanh(c') o (1 - o)     and for the frame before: dc = dc f, dh = [di dg df do] U^T
template <typename Number>
struct LstmBackward {
  Extent extent;
  const Number* gates;        // [time, batch, 4, units]
  const float* cells;         // [time, batch, units]
  const float* cell_before;   // [batch, units]
  const Number* weights;      // [units, 4, units]
  const std::int32_t* lengths;  // [batch]
  const Number* hidden_gradient;       // [time, batch, units]
  const float* cell_after_gradient;    // [batch, units]
  const float* hidden_after_gradient;  // [batch, units]
  Number* gate_gradient;         // [time, batch, 4, units]; may be `gates`
  float* bias_gradient;          // [4, units]
  float* cell_before_gradient;   // [batch, units]
  float* hidden_before_gradient;  // [batch, units]
};

// outputs = values · mask / (1 - rate), where the mask is 0 with probability `rate`, else 1 (inverted dropout). The
// mask depends only on the seed and the place, so it is the same on every machine and with every number of threads. The
// gradient is the same function of the outputs' gradient, with the same mask.
template <typename Number>
struct Dropout {
  std::size_t rows;
  std::size_t columns;
  const Number* values;  // [rows, columns]
  float rate;            // [0, 1)
  std::uint64_t seed;
  Number* outputs;  // [rows, columns]; may be `values`
};

// value_gradient = output_gradient · s (1 + values (1 - s)) with s = sigmoid(values): the gradient of values · s, swish.
template <typename Number>
struct SwishBackward {
  std::size_t rows;
  std::size_t columns;
  const Number* values;           // [rows, columns]
  const Number* output_gradient;  // [rows, columns]
  Number* value_gradient;         // [rows, columns]; may be `output_gradient`
};

// With m the mean of a row x and v its variance, z = (x - m) / sqrt(v + epsilon), and outputs = z scale + offset (Ba et
// al., 2016).
template <typename Number>
struct NormalizationForward {
  std::size_t rows;
  std::size_t columns;
  const Number* values;  // [rows, columns]
  const float* scale;    // [columns]
  const float* offset;   // [columns]
  float epsilon;
  Number* outputs;  // [rows, columns]; may be `values`
};

// With dz = output_gradient · scale, and means over the numbers of a row:
//
//   value_gradient = (dz - mean(dz) - z mean(dz z)) / sqrt(v + epsilon)
template <typename Number>
struct NormalizationBackward {
  std::size_t rows;
  std::size_t columns;
  const Number* values;           // [rows, columns]
  const float* scale;             // [columns]
  const Number* output_gradient;  // [rows, columns]
  float epsilon;
  Number* value_gradient;  // [rows, columns]; may be `output_gradient`
  float* scale_gradient;   // [columns]
  float* offset_gradient;  // [columns]
};

// outputs = min(max(products + bias, 0), clip) · mask / (1 - rate), with the mask of dropout.
template <typename Number>
struct ActivationForward {
  std::size_t rows;
  std::size_t columns;
  const Number* products;  // [rows, columns]
  const float* bias;       // [columns]
  float clip;
  float rate;  // [0, 1)
  std::uint64_t seed;
  Number* outputs;  // [rows, columns]; may be `products`
};

template <typename Number>
struct ActivationBackward {
  std::size_t rows;
  std::size_t columns;
  const Number* outputs;          // [rows, columns]
  const Number* output_gradient;  // [rows, columns]
  float clip;
  float rate;
  Number* product_gradient;  // [rows, columns]; may be `output_gradient`
  float* bias_gradient;      // [columns]
};

// The CTC loss of each utterance in nats, and its gradient (Graves et al., 2006; equations in ctc.inc). The blank is
// the last class. A transcript that needs more frames than there are has an infinite loss and no gradient.
struct Ctc {
  std::size_t time;
  std::size_t batch;
  std::size_t classes;
  std::size_t most_labels;
  const float* logits;          // [time, batch, classes], not normalized
  const std::int32_t* labels;   // [batch, most_labels], padded with negative numbers
  const std::int32_t* lengths;  // [batch], frames
  float* losses;                // [batch]
  float* gradient;              // [time, batch, classes]; zero beyond the lengths
};

// Numbers to be joined with others: bfloat16s or floats.
struct JoinedPart {
  const void* numbers;
  bool bfloat16;
  std::size_t size;
};

// The numbers of all parts one after the other, as floats, and half the sum of their squares: each number is read once.
// The sums of the parts' pieces are added in the same order with any number of threads.
struct Join {
  std::vector<JoinedPart> parts;
  float* joined;
  float* half_square;
};

// Each runs on at most `threads` threads; 0: one for each core that this process may use.
template <typename Number>
void run(const LstmForward<Number>& task, std::size_t threads, Machine machine);
template <typename Number>
void run(const LstmBackward<Number>& task, std::size_t threads, Machine machine);
template <typename Number>
void run(const Dropout<Number>& task, std::size_t threads, Machine machine);
template <typename Number>
void run(const SwishBackward<Number>& task, std::size_t threads, Machine machine);
template <typename Number>
void run(const NormalizationForward<Number>& task, std::size_t threads, Machine machine);
template <typename Number>
void run(const NormalizationBackward<Number>& task, std::size_t threads, Machine machine);
template <typename Number>
void run(const ActivationForward<Number>& task, std::size_t threads, Machine machine);
template <typename Number>
void run(const ActivationBackward<Number>& task, std::size_t threads, Machine machine);
void run(const Ctc& task, std::size_t threads, Machine machine);
void run(const Join& task, std::size_t threads, Machine machine);

}  // namespace training
