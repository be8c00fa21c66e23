// The Python module deepspeech._acoustic.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "acoustic/plan/plan.h"
#include "acoustic/python/layers.h"
#include "acoustic/python/weights.h"

namespace acoustic::python {
namespace {

template <class Dense>
FloatArray run_dense(const Dense& dense, const FloatArray& inputs, float low, float high, std::size_t threads) {
  require(inputs.ndim() == 2 && inputs.shape(1) == static_cast<py::ssize_t>(dense.rows()),
          "inputs must be [frames, rows]");
  FloatArray outputs({inputs.shape(0), static_cast<py::ssize_t>(dense.blocks()) * kColumns});
  const float* const from = inputs.data();
  float* const to = outputs.mutable_data();
  const auto frames = static_cast<std::size_t>(inputs.shape(0));
  {
    const py::gil_scoped_release release;
    acoustic::dense(dense.layer(), from, frames, low, high, threads, to);
  }
  return outputs;
}

// A step of a plan, and the object that owns its weights.
struct StepWithWeights {
  acoustic::Step step;
  std::shared_ptr<const void> weights;
};

template <class Dense>
StepWithWeights dense_step(std::shared_ptr<Dense> dense, std::size_t units, float low, float high) {
  return {DenseStep{{dense->layer(), units}, low, high}, std::move(dense)};
}

template <class Recurrence>
StepWithWeights recurrent_step(std::shared_ptr<Recurrence> recurrence) {
  return {RecurrentStep{recurrence->layer()}, std::move(recurrence)};
}

StepWithWeights normalization_step(std::shared_ptr<NormalizationWeights> normalization) {
  return {normalization->layer(), std::move(normalization)};
}

StepWithWeights feed_forward_step(std::shared_ptr<Residual> parts) {
  require(parts->outer->product.inputs() == parts->inner->product.units, "the products do not fit together");
  return {FeedForward{parts->before->layer(), parts->inner->product, parts->outer->product}, std::move(parts)};
}

StepWithWeights softmax_step(std::size_t units) {
  require(units > 0, "a softmax must be of some units");
  return {SoftmaxStep{units}, nullptr};
}

class PlanWithWeights {
 public:
  explicit PlanWithWeights(std::vector<StepWithWeights> steps) : steps_(std::move(steps)), plan_(steps_of(steps_)) {}

  std::size_t state_size() const { return plan_.state_size(); }

  // Computes the outputs [frames, outputs] and the new state of each utterance.
  std::vector<std::pair<FloatArray, FloatArray>> run(const std::vector<FloatArray>& inputs,
                                                     const std::vector<FloatArray>& states,
                                                     std::size_t threads) const {
    require(inputs.size() == states.size(), "there must be a state for each utterance");
    std::vector<std::pair<FloatArray, FloatArray>> results;
    std::vector<PlannedUtterance> utterances;
    results.reserve(inputs.size());
    for (std::size_t each = 0; each < inputs.size(); ++each) {
      require(inputs[each].ndim() == 2 && inputs[each].shape(1) == size(plan_.inputs()),
              "inputs must be [frames, inputs of the plan]");
      require(states[each].ndim() == 1 && states[each].shape(0) == size(plan_.state_size()),
              "a state must have the plan's state_size");
      FloatArray outputs({inputs[each].shape(0), size(plan_.outputs())}), state(states[each].shape(0));
      utterances.push_back({inputs[each].data(), static_cast<std::size_t>(inputs[each].shape(0)), states[each].data(),
                            outputs.mutable_data(), state.mutable_data()});
      results.emplace_back(std::move(outputs), std::move(state));
    }
    const py::gil_scoped_release release;
    plan_.run(utterances, threads);
    return results;
  }

 private:
  static py::ssize_t size(std::size_t size) { return static_cast<py::ssize_t>(size); }

  static std::vector<acoustic::Step> steps_of(const std::vector<StepWithWeights>& steps) {
    std::vector<acoustic::Step> result;
    for (const StepWithWeights& each : steps) result.push_back(each.step);
    return result;
  }

  std::vector<StepWithWeights> steps_;
  Plan plan_;
};

using StepClass = py::class_<StepWithWeights>;
using ProductClass = py::class_<ProductWithWeights, std::shared_ptr<ProductWithWeights>>;

template <class Dense>
py::class_<Dense, std::shared_ptr<Dense>> define_dense(py::module_& module, StepClass& step, ProductClass& product,
                                                       const char* name) {
  product.def(py::init(&ProductWithWeights::of<Dense>), py::arg("dense"), py::arg("units"));
  step.def_static("dense", &dense_step<Dense>, py::arg("product"), py::arg("units"), py::arg("low"), py::arg("high"));
  return py::class_<Dense, std::shared_ptr<Dense>>(module, name)
      .def("run", &run_dense<Dense>, py::arg("inputs"), py::arg("low"), py::arg("high"), py::arg("threads"));
}

template <class Recurrence>
py::class_<Recurrence, std::shared_ptr<Recurrence>> define_recurrence(py::module_& module, StepClass& step,
                                                                      const char* name) {
  step.def_static("recurrent", &recurrent_step<Recurrence>, py::arg("recurrence"));
  return py::class_<Recurrence, std::shared_ptr<Recurrence>>(module, name);
}

// The layers that keep a state.
void define_layers(py::module_& module) {
  const py::arg inputs("inputs"), state("state"), last("last"), threads("threads");
  using Attention = SelfAttentionWithWeights;
  py::class_<SelfAttention::State>(module, "SelfAttentionState");
  py::class_<Attention>(module, "SelfAttention")
      .def(py::init<Residual, std::size_t, std::size_t, std::size_t>(), py::arg("parts"), py::arg("heads"),
           py::arg("chunk"), py::arg("left"))
      .def("initial_state", &Attention::initial_state)
      .def("run", &Attention::run, inputs, state, last, threads);
  using Module = ConvolutionModuleWithWeights;
  py::class_<ConvolutionModule::State>(module, "ConvolutionModuleState");
  py::class_<Module>(module, "ConvolutionModule")
      .def(py::init<Residual, FloatArray, FloatArray, std::shared_ptr<NormalizationWeights>, std::size_t>(),
           py::arg("parts"), py::arg("kernel"), py::arg("bias"), py::arg("second_normalization"), py::arg("after"))
      .def("initial_state", &Module::initial_state)
      .def("run", &Module::run, inputs, state, last, threads);
  py::class_<ConvolutionSizes>(module, "ConvolutionSizes")
      .def(py::init([](std::size_t width, std::size_t channels, std::size_t input_channels, std::size_t time,
                       std::size_t frequency, std::size_t time_stride, std::size_t frequency_stride) {
             return ConvolutionSizes{width, channels, input_channels, time, frequency, time_stride, frequency_stride};
           }),
           py::arg("inputs"), py::arg("channels"), py::arg("input_channels"), py::arg("time"), py::arg("frequency"),
           py::arg("time_stride"), py::arg("frequency_stride"));
  py::class_<Convolution::State>(module, "ConvolutionState");
  py::class_<ConvolutionWithWeights>(module, "Convolution")
      .def(py::init<std::shared_ptr<ProductWithWeights>, const ConvolutionSizes&, float, float>(), py::arg("product"),
           py::arg("sizes"), py::arg("low"), py::arg("high"))
      .def("initial_state", &ConvolutionWithWeights::initial_state)
      .def("run", &ConvolutionWithWeights::run, inputs, state, last, threads);
}

PYBIND11_MODULE(_acoustic, module) {
  using Int8Array = Array<std::int8_t>;
  using Halves = Array<std::uint16_t>;
  using Sums = Array<std::int32_t>;
  const py::arg weights("weights"), scales("scales"), sums("sums"), rows("rows"), bias("bias");
  StepClass step(module, "Step");
  ProductClass product(module, "Product");
  py::class_<NormalizationWeights, std::shared_ptr<NormalizationWeights>>(module, "Normalization")
      .def(py::init<FloatArray, FloatArray>(), py::arg("scale"), py::arg("offset"));
  py::class_<Residual, std::shared_ptr<Residual>>(module, "Residual")
      .def(py::init<std::shared_ptr<NormalizationWeights>, std::shared_ptr<ProductWithWeights>,
                    std::shared_ptr<ProductWithWeights>>(),
           py::arg("normalization"), py::arg("inner"), py::arg("outer"));
  define_dense<FloatDense>(module, step, product, "Dense").def(py::init<FloatArray, FloatArray>(), weights, bias);
  define_dense<Int8Dense>(module, step, product, "Int8Dense")
      .def(py::init<Int8Array, FloatArray, Sums, std::size_t, FloatArray>(), weights, scales, sums, rows, bias);
  define_dense<Bfloat16Dense>(module, step, product, "Bfloat16Dense")
      .def(py::init<Halves, std::size_t, FloatArray>(), weights, rows, bias);
  define_recurrence<Int16Recurrence>(module, step, "Recurrence")
      .def(py::init<Array<std::int16_t>, FloatArray>(), weights, scales);
  define_recurrence<Int8Recurrence>(module, step, "Int8Recurrence")
      .def(py::init<Int8Array, FloatArray, Sums, std::size_t>(), weights, scales, sums, rows);
  define_recurrence<Bfloat16Recurrence>(module, step, "Bfloat16Recurrence")
      .def(py::init<Halves, std::size_t>(), weights, rows);
  step.def_static("normalization", &normalization_step, py::arg("normalization"));
  step.def_static("feed_forward", &feed_forward_step, py::arg("parts"));
  step.def_static("softmax", &softmax_step, py::arg("units"));
  py::class_<PlanWithWeights>(module, "Plan")
      .def(py::init<std::vector<StepWithWeights>>(), py::arg("steps"))
      .def_property_readonly("state_size", &PlanWithWeights::state_size)
      .def("run", &PlanWithWeights::run, py::arg("inputs"), py::arg("states"), py::arg("threads"));
  define_layers(module);
  module.def("has_bfloat16_products",
             [] { return acoustic::machines().back() >= acoustic::Machine::kAvx512Bfloat16; });
  module.def("has_int8_products", [] { return acoustic::machines().back() >= acoustic::Machine::kAvx512Vnni; });
  module.def("has_tile_products", [] { return acoustic::machines().back() >= acoustic::Machine::kAmx; });
}

}  // namespace
}  // namespace acoustic::python
