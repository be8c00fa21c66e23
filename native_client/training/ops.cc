// TensorFlow's operations DeepspeechLstm, DeepspeechDropout, DeepspeechActivation, DeepspeechLayerNormalization and
// DeepspeechCtc, with their gradients, DeepspeechSwishGradient and DeepspeechJoin, registered when this is loaded.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "training/kernel_context.h"
#include "training/kernels.h"
#include "training/registration.h"
#include "training/tensorflow_api.h"

namespace training {
namespace {

std::size_t size(std::int64_t dimension) { return static_cast<std::size_t>(dimension); }

// [time, batch, units] for gates [time, batch, 4 * units].
Extent extent_of(const Shape& gates) {
  if (gates.size() != 3 || gates[2] % 4 != 0) {
    throw std::invalid_argument("gates must be [time, batch, 4 * units], not " + KernelContext::shown(gates));
  }
  return {size(gates[0]), size(gates[1]), size(gates[2] / 4)};
}

template <typename Number>
void lstm(const KernelContext& context, const Attributes& attributes) {
  Tensor gate_inputs = context.input(0);
  const Shape gates_shape = gate_inputs.shape();
  const Extent extent = extent_of(gates_shape);
  const std::int64_t time = gates_shape[0], batch = gates_shape[1], units = gates_shape[2] / 4;
  const Tensor weights = context.input(1, {units, 4 * units}, "weights");
  const Tensor bias = context.input(2, {4 * units}, "bias");
  const Tensor cell_before = context.input(3, {batch, units}, "cell_before");
  const Tensor hidden_before = context.input(4, {batch, units}, "hidden_before");
  const Tensor lengths = context.input(5, {batch}, "lengths");
  const Number* const inputs = gate_inputs.data<Number>();
  gate_inputs = Tensor(nullptr);  // TensorFlow reuses its memory for the output only if there is no other reference

  const Tensor hidden = context.output<Number>(0, {time, batch, units});
  const Tensor gates = context.output_instead_of(0, 1, gates_shape);
  const Tensor cells = context.output<float>(2, {time, batch, units});
  const Tensor cell_after = context.output<float>(3, {batch, units});
  const Tensor hidden_after = context.output<float>(4, {batch, units});
  run(LstmForward<Number>{extent, inputs, weights.data<Number>(), bias.data<float>(), cell_before.data<float>(),
                          hidden_before.data<float>(), lengths.data<std::int32_t>(), hidden.data<Number>(),
                          gates.data<Number>(), cells.data<float>(), cell_after.data<float>(),
                          hidden_after.data<float>()},
      size(attributes.threads), machines().back());
}

template <typename Number>
void lstm_gradient(const KernelContext& context, const Attributes& attributes) {
  Tensor gates = context.input(0);
  const Shape gates_shape = gates.shape();
  const Extent extent = extent_of(gates_shape);
  const std::int64_t time = gates_shape[0], batch = gates_shape[1], units = gates_shape[2] / 4;
  const Tensor cells = context.input(1, {time, batch, units}, "cells");
  const Tensor cell_before = context.input(2, {batch, units}, "cell_before");
  const Tensor weights = context.input(3, {units, 4 * units}, "weights");
  const Tensor lengths = context.input(4, {batch}, "lengths");
  const Tensor hidden_gradient = context.input(5, {time, batch, units}, "hidden_gradient");
  const Tensor cell_after_gradient = context.input(6, {batch, units}, "cell_after_gradient");
  const Tensor hidden_after_gradient = context.input(7, {batch, units}, "hidden_after_gradient");
  const Number* const activated = gates.data<Number>();
  gates = Tensor(nullptr);  // as above

  const Tensor gate_gradient = context.output_instead_of(0, 0, gates_shape);
  const Tensor bias_gradient = context.output<float>(1, {4 * units});
  const Tensor cell_before_gradient = context.output<float>(2, {batch, units});
  const Tensor hidden_before_gradient = context.output<float>(3, {batch, units});
  run(LstmBackward<Number>{extent, activated, cells.data<float>(), cell_before.data<float>(), weights.data<Number>(),
                           lengths.data<std::int32_t>(), hidden_gradient.data<Number>(),
                           cell_after_gradient.data<float>(), hidden_after_gradient.data<float>(),
                           gate_gradient.data<Number>(), bias_gradient.data<float>(),
                           cell_before_gradient.data<float>(), hidden_before_gradient.data<float>()},
      size(attributes.threads), machines().back());
}

void check_matrix(const Shape& shape, const std::string& name) {
  if (shape.size() != 2) throw std::invalid_argument(name + " must be [rows, columns]");
}

template <typename Number>
void dropout(const KernelContext& context, const Attributes& attributes) {
  Tensor values = context.input(0);
  const Shape shape = values.shape();
  check_matrix(shape, "values");
  const Tensor seed = context.input(1, {}, "seed");
  const Number* const inputs = values.data<Number>();
  values = Tensor(nullptr);

  const Tensor outputs = context.output_instead_of(0, 0, shape);
  run(Dropout<Number>{size(shape[0]), size(shape[1]), inputs, attributes.rate,
                      static_cast<std::uint64_t>(*seed.data<std::int64_t>()), outputs.data<Number>()},
      size(attributes.threads), machines().back());
}

template <typename Number>
void swish_gradient(const KernelContext& context, const Attributes& attributes) {
  const Tensor values = context.input(0);
  const Shape shape = values.shape();
  check_matrix(shape, "values");
  Tensor output_gradient = context.input(1, shape, "output_gradient");
  const Number* const gradient = output_gradient.data<Number>();
  output_gradient = Tensor(nullptr);

  const Tensor value_gradient = context.output_instead_of(1, 0, shape);
  run(SwishBackward<Number>{size(shape[0]), size(shape[1]), values.data<Number>(), gradient,
                            value_gradient.data<Number>()},
      size(attributes.threads), machines().back());
}

template <typename Number>
void layer_normalization(const KernelContext& context, const Attributes& attributes) {
  Tensor values = context.input(0);
  const Shape shape = values.shape();
  check_matrix(shape, "values");
  const Tensor scale = context.input(1, {shape[1]}, "scale");
  const Tensor offset = context.input(2, {shape[1]}, "offset");
  const Number* const inputs = values.data<Number>();
  values = Tensor(nullptr);

  const Tensor outputs = context.output_instead_of(0, 0, shape);
  run(NormalizationForward<Number>{size(shape[0]), size(shape[1]), inputs, scale.data<float>(), offset.data<float>(),
                                   attributes.epsilon, outputs.data<Number>()},
      size(attributes.threads), machines().back());
}

template <typename Number>
void layer_normalization_gradient(const KernelContext& context, const Attributes& attributes) {
  const Tensor values = context.input(0);
  const Shape shape = values.shape();
  check_matrix(shape, "values");
  const Tensor scale = context.input(1, {shape[1]}, "scale");
  Tensor output_gradient = context.input(2, shape, "output_gradient");
  const Number* const gradient = output_gradient.data<Number>();
  output_gradient = Tensor(nullptr);

  const Tensor value_gradient = context.output_instead_of(2, 0, shape);
  const Tensor scale_gradient = context.output<float>(1, {shape[1]});
  const Tensor offset_gradient = context.output<float>(2, {shape[1]});
  run(NormalizationBackward<Number>{size(shape[0]), size(shape[1]), values.data<Number>(), scale.data<float>(),
                                    gradient, attributes.epsilon, value_gradient.data<Number>(),
                                    scale_gradient.data<float>(), offset_gradient.data<float>()},
      size(attributes.threads), machines().back());
}

template <typename Number>
void activation(const KernelContext& context, const Attributes& attributes) {
  Tensor products = context.input(0);
  const Shape shape = products.shape();
  check_matrix(shape, "products");
  const Tensor bias = context.input(1, {shape[1]}, "bias");
  const Tensor seed = context.input(2, {}, "seed");
  const Number* const inputs = products.data<Number>();
  products = Tensor(nullptr);

  const Tensor outputs = context.output_instead_of(0, 0, shape);
  run(ActivationForward<Number>{size(shape[0]), size(shape[1]), inputs, bias.data<float>(), attributes.clip,
                                attributes.rate, static_cast<std::uint64_t>(*seed.data<std::int64_t>()),
                                outputs.data<Number>()},
      size(attributes.threads), machines().back());
}

template <typename Number>
void activation_gradient(const KernelContext& context, const Attributes& attributes) {
  const Tensor outputs = context.input(0);
  const Shape shape = outputs.shape();
  check_matrix(shape, "outputs");
  Tensor output_gradient = context.input(1, shape, "output_gradient");
  const Number* const gradient = output_gradient.data<Number>();
  output_gradient = Tensor(nullptr);

  const Tensor product_gradient = context.output_instead_of(1, 0, shape);
  const Tensor bias_gradient = context.output<float>(1, {shape[1]});
  run(ActivationBackward<Number>{size(shape[0]), size(shape[1]), outputs.data<Number>(), gradient, attributes.clip,
                                 attributes.rate, product_gradient.data<Number>(), bias_gradient.data<float>()},
      size(attributes.threads), machines().back());
}

void ctc(const KernelContext& context, const Attributes& attributes) {
  const Tensor logits = context.input(0);
  const Shape shape = logits.shape();
  if (shape.size() != 3 || shape[2] == 0) throw std::invalid_argument("logits must be [time, batch, classes]");
  const Tensor labels = context.input(1);
  if (labels.shape().size() != 2) throw std::invalid_argument("labels must be [batch, labels]");
  const std::int64_t most_labels = labels.shape()[1];
  if (labels.shape()[0] != shape[1]) throw std::invalid_argument("there must be labels for each utterance");
  const Tensor lengths = context.input(2, {shape[1]}, "lengths");

  const Tensor losses = context.output<float>(0, {shape[1]});
  const Tensor gradient = context.output<float>(1, shape);
  run(Ctc{size(shape[0]), size(shape[1]), size(shape[2]), size(most_labels), logits.data<float>(),
          labels.data<std::int32_t>(), lengths.data<std::int32_t>(), losses.data<float>(), gradient.data<float>()},
      size(attributes.threads), machines().back());
}

// Joins the parts, followed by a number that does not count in the sum of squares.
void join(const KernelContext& context, const Attributes& attributes) {
  const int last = context.inputs() - 1;
  const Tensor further = context.input(last, {}, "further");
  std::vector<Tensor> inputs;
  std::vector<JoinedPart> parts;
  std::size_t numbers = 0;
  for (int index = 0; index < last; ++index) {
    inputs.push_back(context.input(index));
    const Tensor& part = inputs.back();
    parts.push_back({part.data<void>(), part.type() == TF_BFLOAT16, part.size()});
    numbers += part.size();
  }

  const Tensor joined = context.output<float>(0, {static_cast<std::int64_t>(numbers) + 1});
  const Tensor half_square = context.output<float>(1, {});
  joined.data<float>()[numbers] = *further.data<float>();
  run(Join{std::move(parts), joined.data<float>(), half_square.data<float>()}, size(attributes.threads),
      machines().back());
}

bool register_all() {
  define("DeepspeechLstm",
         {"gate_inputs: T", "weights: T", "bias: float", "cell_before: float", "hidden_before: float",
          "lengths: int32"},
         {"hidden: T", "gates: T", "cells: float", "cell_after: float", "hidden_after: float"}, {kType});
  define("DeepspeechLstmGradient",
         {"gates: T", "cells: float", "cell_before: float", "weights: T", "lengths: int32", "hidden_gradient: T",
          "cell_after_gradient: float", "hidden_after_gradient: float"},
         {"gate_gradient: T", "bias_gradient: float", "cell_before_gradient: float",
          "hidden_before_gradient: float"}, {kType});
  define("DeepspeechDropout", {"values: T", "seed: int64"}, {"outputs: T"}, {kType, "rate: float"});
  define("DeepspeechSwishGradient", {"values: T", "output_gradient: T"}, {"value_gradient: T"}, {kType});
  define("DeepspeechLayerNormalization", {"values: T", "scale: float", "offset: float"}, {"outputs: T"},
         {kType, "epsilon: float"});
  define("DeepspeechLayerNormalizationGradient", {"values: T", "scale: float", "output_gradient: T"},
         {"value_gradient: T", "scale_gradient: float", "offset_gradient: float"}, {kType, "epsilon: float"});
  define("DeepspeechActivation", {"products: T", "bias: float", "seed: int64"}, {"outputs: T"},
         {kType, "clip: float", "rate: float"});
  define("DeepspeechActivationGradient", {"outputs: T", "output_gradient: T"},
         {"product_gradient: T", "bias_gradient: float"}, {kType, "clip: float", "rate: float"});
  define("DeepspeechCtc", {"logits: float", "labels: int32", "lengths: int32"}, {"losses: float", "gradient: float"}, {});
  add_kernel("DeepspeechCtc", TF_FLOAT, compute<ctc>, false);
  define("DeepspeechJoin", {"parts: Types", "further: float"}, {"joined: float", "half_square: float"},
         {"Types: list({float, bfloat16}) >= 1"});
  add_kernel("DeepspeechJoin", TF_FLOAT, compute<join>, false);
  add_kernels<lstm<float>, lstm<Bfloat16>>("DeepspeechLstm");
  add_kernels<lstm_gradient<float>, lstm_gradient<Bfloat16>>("DeepspeechLstmGradient");
  add_kernels<dropout<float>, dropout<Bfloat16>>("DeepspeechDropout");
  add_kernels<swish_gradient<float>, swish_gradient<Bfloat16>>("DeepspeechSwishGradient");
  add_kernels<layer_normalization<float>, layer_normalization<Bfloat16>>("DeepspeechLayerNormalization");
  add_kernels<layer_normalization_gradient<float>, layer_normalization_gradient<Bfloat16>>(
      "DeepspeechLayerNormalizationGradient");
  add_kernels<activation<float>, activation<Bfloat16>>("DeepspeechActivation");
  add_kernels<activation_gradient<float>, activation_gradient<Bfloat16>>("DeepspeechActivationGradient");
  return true;
}

const bool registered = register_all();

}  // namespace
}  // namespace training

extern "C" __attribute__((visibility("default"))) int deepspeech_has_bfloat16_products() {
  return training::machines().back() >= training::Machine::kAvx512Bfloat16;
}
