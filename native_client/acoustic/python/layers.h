// Layers with a state, and their parts, with weights in arrays of Python.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "acoustic/layers/conformer.h"
#include "acoustic/layers/convolution.h"
#include "acoustic/python/weights.h"

namespace acoustic::python {

// The scale and the offset of a layer normalization.
class NormalizationWeights {
 public:
  NormalizationWeights(FloatArray scale, FloatArray offset) : scale_(std::move(scale)), offset_(std::move(offset)) {
    require(scale_.ndim() == 1 && offset_.ndim() == 1 && scale_.shape(0) == offset_.shape(0) && scale_.size() > 0,
            "scale and offset must be [width]");
  }

  Normalization layer() const { return {scale_.data(), offset_.data(), static_cast<std::size_t>(scale_.shape(0))}; }

 private:
  FloatArray scale_, offset_;
};

// The first `units` columns of a dense layer, and the object that owns its weights.
struct ProductWithWeights {
  template <class Dense>
  static ProductWithWeights of(std::shared_ptr<Dense> dense, std::size_t units) {
    require(0 < units && units <= dense->blocks() * acoustic::kColumns, "there are more units than columns");
    return {{dense->layer(), units}, std::move(dense)};
  }

  acoustic::Product product;
  std::shared_ptr<const void> weights;
};

// A normalization, and the products of a layer that adds to its inputs.
struct Residual {
  Residual(std::shared_ptr<NormalizationWeights> normalization, std::shared_ptr<ProductWithWeights> first,
           std::shared_ptr<ProductWithWeights> last)
      : before(std::move(normalization)), inner(std::move(first)), outer(std::move(last)) {
    require(inner->product.inputs() == width() && outer->product.units == width(),
            "the products must begin and end with the width of the normalization");
  }

  std::size_t width() const { return before->layer().width; }

  std::shared_ptr<NormalizationWeights> before;
  std::shared_ptr<ProductWithWeights> inner, outer;
};

// The rows [rows, width] that a layer returns; the array owns their memory.
inline FloatArray array_of(Numbers numbers, std::size_t width) {
  auto kept = std::make_unique<Numbers>(std::move(numbers));
  const float* const values = kept->data();
  const auto rows = static_cast<py::ssize_t>(kept->size() / width);
  const py::capsule owner(kept.get(), [](void* owned) { delete static_cast<Numbers*>(owned); });
  kept.release();
  return FloatArray({rows, static_cast<py::ssize_t>(width)}, values, owner);
}

// Computes the outputs of a layer, and the state after them; the state before them is not changed.
template <class Layer>
std::pair<FloatArray, typename Layer::State> run_layer(const Layer& layer, std::size_t width, std::size_t outputs_width,
                                                       const FloatArray& inputs, const typename Layer::State& state,
                                                       bool last, std::size_t threads) {
  require(inputs.ndim() == 2 && inputs.shape(1) == static_cast<py::ssize_t>(width), "inputs must be [rows, width]");
  const float* const values = inputs.data();
  const auto rows = static_cast<std::size_t>(inputs.shape(0));
  typename Layer::State next;
  Numbers outputs;
  {
    const py::gil_scoped_release release;
    next = state;
    outputs = layer.run(values, rows, last, threads, next);
  }
  return {array_of(std::move(outputs), outputs_width), std::move(next)};
}

class SelfAttentionWithWeights {
 public:
  SelfAttentionWithWeights(Residual parts, std::size_t heads, std::size_t chunk, std::size_t left)
      : parts_(std::move(parts)),
        layer_{parts_.before->layer(), parts_.inner->product, parts_.outer->product, heads, chunk, left} {
    const std::size_t width = parts_.width();
    require(heads > 0 && width % (2 * heads) == 0, "heads must share the width in pairs");
    require(layer_.inner.units == 3 * width && layer_.outer.inputs() == width,
            "the products must be those of queries, keys and values, and of the heads' means");
  }

  SelfAttention::State initial_state() const { return layer_.initial_state(); }

  std::pair<FloatArray, SelfAttention::State> run(const FloatArray& inputs, const SelfAttention::State& state,
                                                  bool last, std::size_t threads) const {
    return run_layer(layer_, parts_.width(), parts_.width(), inputs, state, last, threads);
  }

 private:
  Residual parts_;
  SelfAttention layer_;
};

class ConvolutionModuleWithWeights {
 public:
  ConvolutionModuleWithWeights(Residual parts, FloatArray kernel, FloatArray bias,
                               std::shared_ptr<NormalizationWeights> second, std::size_t after)
      : parts_(std::move(parts)), kernel_(std::move(kernel)), bias_(std::move(bias)), second_(std::move(second)),
        layer_(checked(after)) {}

  ConvolutionModule::State initial_state() const { return layer_.initial_state(); }

  std::pair<FloatArray, ConvolutionModule::State> run(const FloatArray& inputs, const ConvolutionModule::State& state,
                                                      bool last, std::size_t threads) const {
    return run_layer(layer_, parts_.width(), parts_.width(), inputs, state, last, threads);
  }

 private:
  ConvolutionModule checked(std::size_t after) const {
    const std::size_t width = parts_.width();
    const auto size = static_cast<py::ssize_t>(width);
    const acoustic::Product &inner = parts_.inner->product, &outer = parts_.outer->product;
    require(kernel_.ndim() == 2 && kernel_.shape(1) == size && bias_.ndim() == 1 && bias_.shape(0) == size,
            "the kernel must be [taps, width], and its bias [width]");
    const auto taps = static_cast<std::size_t>(kernel_.shape(0));
    require(after < taps, "an output must depend on its own row");
    require(inner.units == 2 * width && outer.inputs() == width && second_->layer().width == width,
            "the products must be those of the gated rows and of the convolved ones");
    return {parts_.before->layer(), inner, {kernel_.data(), bias_.data(), taps, width}, second_->layer(), outer, after};
  }

  Residual parts_;
  FloatArray kernel_, bias_;
  std::shared_ptr<NormalizationWeights> second_;
  ConvolutionModule layer_;
};

class ConvolutionWithWeights {
 public:
  ConvolutionWithWeights(std::shared_ptr<ProductWithWeights> product, const ConvolutionSizes& sizes, float low,
                         float high)
      : product_(std::move(product)), layer_{sizes, product_->product, low, high} {
    require(sizes.input_channels > 0 && sizes.inputs % sizes.input_channels == 0 && sizes.frequency_stride > 0 &&
                sizes.inputs > 0 && 0 < sizes.time_stride && sizes.time_stride <= sizes.time && sizes.frequency > 0,
            "sizes must be positive, and no frame left out");
    require(product_->product.inputs() == sizes.patch() && product_->product.units == sizes.channels,
            "the product must be from patches to channels");
  }

  Convolution::State initial_state() const { return layer_.initial_state(); }

  std::pair<FloatArray, Convolution::State> run(const FloatArray& inputs, const Convolution::State& state, bool last,
                                                std::size_t threads) const {
    return run_layer(layer_, layer_.sizes.inputs, layer_.sizes.outputs(), inputs, state, last, threads);
  }

 private:
  std::shared_ptr<ProductWithWeights> product_;
  Convolution layer_;
};

}  // namespace acoustic::python
