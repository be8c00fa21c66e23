// Weights in arrays of Python, in the kernels' layout.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "acoustic/bfloat16.h"
#include "acoustic/int8.h"
#include "acoustic/kernels.h"

namespace acoustic::python {

namespace py = pybind11;

template <class Number>
using Array = py::array_t<Number, py::array::c_style>;
using FloatArray = Array<float>;

constexpr auto kColumns = static_cast<py::ssize_t>(acoustic::kColumns);
constexpr auto kLanes = static_cast<py::ssize_t>(acoustic::kLanes);
constexpr auto kQuad = static_cast<py::ssize_t>(acoustic::kQuad);

inline void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

inline void require_of_columns(const py::array& values, std::size_t blocks, const char* what) {
  require(values.ndim() == 1 && values.shape(0) == static_cast<py::ssize_t>(blocks) * kColumns, what);
}

// Weights of floats, with a bias.
class FloatDense {
 public:
  FloatDense(FloatArray weights, FloatArray bias) : weights_(std::move(weights)), bias_(std::move(bias)) {
    require(weights_.ndim() == 3 && weights_.shape(2) == kColumns, "weights must be [blocks, rows, 64]");
    require_of_columns(bias_, blocks(), "the bias must be [blocks * 64]");
  }

  std::size_t blocks() const { return static_cast<std::size_t>(weights_.shape(0)); }
  std::size_t rows() const { return static_cast<std::size_t>(weights_.shape(1)); }
  acoustic::DenseLayer layer() const { return {weights_.data(), bias_.data(), blocks(), rows()}; }

 private:
  FloatArray weights_, bias_;
};

// The recurrent weights of 16 bits.
class Int16Recurrence {
 public:
  Int16Recurrence(Array<std::int16_t> weights, FloatArray scales)
      : weights_(std::move(weights)), scales_(std::move(scales)) {
    require(weights_.ndim() == 3 && weights_.shape(2) == kColumns, "weights must be [blocks, rows, 64]");
    require(weights_.shape(1) <= weights_.shape(0) * kLanes, "there are more units than the blocks hold");
    require_of_columns(scales_, blocks(), "scales must be [blocks * 64]");
  }

  std::size_t blocks() const { return static_cast<std::size_t>(weights_.shape(0)); }
  acoustic::RecurrentLayer layer() const {
    return {weights_.data(), scales_.data(), blocks(), static_cast<std::size_t>(weights_.shape(1))};
  }

 private:
  Array<std::int16_t> weights_;
  FloatArray scales_;
};

class Int8Weights {
 public:
  Int8Weights(Array<std::int8_t> weights, FloatArray scales, Array<std::int32_t> sums, std::size_t rows)
      : weights_(std::move(weights)), scales_(std::move(scales)), sums_(std::move(sums)), rows_(rows) {
    require(weights_.ndim() == 4 && weights_.shape(2) == kColumns && weights_.shape(3) == kQuad &&
                weights_.shape(1) * kQuad == static_cast<py::ssize_t>(layer().filled_rows()),
            "weights must be [blocks, quads, 64, 4], with rows filled up to a multiple of 64");
    require_of_columns(scales_, blocks(), "scales must be [blocks * 64]");
    require_of_columns(sums_, blocks(), "sums must be [blocks * 64]");
  }

  std::size_t blocks() const { return static_cast<std::size_t>(weights_.shape(0)); }
  std::size_t rows() const { return rows_; }
  acoustic::Int8Weights layer() const { return {weights_.data(), scales_.data(), sums_.data(), blocks(), rows_}; }

 private:
  Array<std::int8_t> weights_;
  FloatArray scales_;
  Array<std::int32_t> sums_;
  std::size_t rows_;
};

class Int8Dense {
 public:
  Int8Dense(Array<std::int8_t> weights, FloatArray scales, Array<std::int32_t> sums, std::size_t rows, FloatArray bias)
      : weights_(std::move(weights), std::move(scales), std::move(sums), rows), bias_(std::move(bias)) {
    require_of_columns(bias_, blocks(), "the bias must be [blocks * 64]");
  }

  std::size_t blocks() const { return weights_.blocks(); }
  std::size_t rows() const { return weights_.rows(); }
  acoustic::Int8DenseLayer layer() const { return {weights_.layer(), bias_.data()}; }

 private:
  Int8Weights weights_;
  FloatArray bias_;
};

class Int8Recurrence : public Int8Weights {
 public:
  Int8Recurrence(Array<std::int8_t> weights, FloatArray scales, Array<std::int32_t> sums, std::size_t rows)
      : Int8Weights(std::move(weights), std::move(scales), std::move(sums), rows) {
    require(rows <= blocks() * acoustic::kLanes, "there are more units than the blocks hold");
  }
};

class Bfloat16Weights {
 public:
  Bfloat16Weights(Array<std::uint16_t> weights, std::size_t rows) : weights_(std::move(weights)), rows_(rows) {
    constexpr auto kPair = static_cast<py::ssize_t>(acoustic::Bfloat16Weights::kPair);
    require(weights_.ndim() == 4 && weights_.shape(2) == kColumns && weights_.shape(3) == kPair &&
                weights_.shape(1) * kPair == static_cast<py::ssize_t>(layer().filled_rows()),
            "weights must be [blocks, pairs, 64, 2], with rows filled up to a multiple of 32");
  }

  std::size_t blocks() const { return static_cast<std::size_t>(weights_.shape(0)); }
  std::size_t rows() const { return rows_; }
  acoustic::Bfloat16Weights layer() const { return {weights_.data(), blocks(), rows_}; }

 private:
  Array<std::uint16_t> weights_;
  std::size_t rows_;
};

class Bfloat16Dense {
 public:
  Bfloat16Dense(Array<std::uint16_t> weights, std::size_t rows, FloatArray bias)
      : weights_(std::move(weights), rows), bias_(std::move(bias)) {
    require_of_columns(bias_, blocks(), "the bias must be [blocks * 64]");
  }

  std::size_t blocks() const { return weights_.blocks(); }
  std::size_t rows() const { return weights_.rows(); }
  acoustic::Bfloat16DenseLayer layer() const { return {weights_.layer(), bias_.data()}; }

 private:
  Bfloat16Weights weights_;
  FloatArray bias_;
};

class Bfloat16Recurrence : public Bfloat16Weights {
 public:
  Bfloat16Recurrence(Array<std::uint16_t> weights, std::size_t rows) : Bfloat16Weights(std::move(weights), rows) {
    require(rows <= blocks() * acoustic::kLanes, "there are more units than the blocks hold");
  }
};

}  // namespace acoustic::python
