// The Python module deepspeech._acoustic.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "acoustic/bfloat16.h"
#include "acoustic/int8.h"
#include "acoustic/kernels.h"

namespace py = pybind11;

namespace {

template <class Number>
using Array = py::array_t<Number, py::array::c_style>;
using FloatArray = Array<float>;

constexpr auto kColumns = static_cast<py::ssize_t>(acoustic::kColumns);
constexpr auto kLanes = static_cast<py::ssize_t>(acoustic::kLanes);
constexpr auto kQuad = static_cast<py::ssize_t>(acoustic::kQuad);

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

void require_of_columns(const py::array& values, std::size_t blocks, const char* what) {
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

template <class Recurrence>
py::tuple run_recurrence(const Recurrence& recurrence, const FloatArray& gates, std::vector<std::size_t> lengths,
                         const FloatArray& cells, const FloatArray& states, std::size_t threads) {
  const auto blocks = static_cast<py::ssize_t>(recurrence.blocks());
  const auto utterances = static_cast<py::ssize_t>(lengths.size());
  require(gates.ndim() == 2 && gates.shape(1) == blocks * kColumns, "gates must be [frames, blocks * 64]");
  const std::size_t frames = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  require(static_cast<py::ssize_t>(frames) == gates.shape(0), "the lengths must add up to the frames");
  for (const FloatArray* each : {&cells, &states}) {
    require(each->ndim() == 2 && each->shape(0) == utterances && each->shape(1) == blocks * kLanes,
            "cells and states must be [utterances, blocks * 16]");
  }
  FloatArray hidden({gates.shape(0), blocks * kLanes});
  FloatArray new_cells({utterances, blocks * kLanes}, cells.data());
  FloatArray new_states({utterances, blocks * kLanes}, states.data());
  const acoustic::Utterances all{std::move(lengths), gates.data(), new_cells.mutable_data(),
                                 new_states.mutable_data(), hidden.mutable_data()};
  {
    const py::gil_scoped_release release;
    acoustic::recurrence(recurrence.layer(), all, threads);
  }
  return py::make_tuple(hidden, new_cells, new_states);
}

template <class Class>
void define_dense(Class python_class) {
  python_class.def("run", &run_dense<typename Class::type>, py::arg("inputs"), py::arg("low"), py::arg("high"),
                   py::arg("threads"));
}

template <class Class>
void define_recurrence(Class python_class) {
  python_class.def("run", &run_recurrence<typename Class::type>, py::arg("gates"), py::arg("lengths"),
                   py::arg("cells"), py::arg("states"), py::arg("threads"));
}

}  // namespace

PYBIND11_MODULE(_acoustic, module) {
  using Int8Array = Array<std::int8_t>;
  using Sums = Array<std::int32_t>;
  define_dense(py::class_<FloatDense>(module, "Dense")
                   .def(py::init<FloatArray, FloatArray>(), py::arg("weights"), py::arg("bias")));
  define_dense(py::class_<Int8Dense>(module, "Int8Dense")
                   .def(py::init<Int8Array, FloatArray, Sums, std::size_t, FloatArray>(), py::arg("weights"),
                        py::arg("scales"), py::arg("sums"), py::arg("rows"), py::arg("bias")));
  using Halves = Array<std::uint16_t>;
  define_dense(py::class_<Bfloat16Dense>(module, "Bfloat16Dense")
                   .def(py::init<Halves, std::size_t, FloatArray>(), py::arg("weights"), py::arg("rows"),
                        py::arg("bias")));
  define_recurrence(py::class_<Int16Recurrence>(module, "Recurrence")
                        .def(py::init<Array<std::int16_t>, FloatArray>(), py::arg("weights"), py::arg("scales")));
  define_recurrence(py::class_<Int8Recurrence>(module, "Int8Recurrence")
                        .def(py::init<Int8Array, FloatArray, Sums, std::size_t>(), py::arg("weights"),
                             py::arg("scales"), py::arg("sums"), py::arg("rows")));
  define_recurrence(py::class_<Bfloat16Recurrence>(module, "Bfloat16Recurrence")
                        .def(py::init<Halves, std::size_t>(), py::arg("weights"), py::arg("rows")));
  module.def("has_bfloat16_products", [] { return acoustic::machines().back() >= acoustic::Machine::kAmx; });
  module.def("has_int8_products", [] { return acoustic::machines().back() >= acoustic::Machine::kAvx512Vnni; });
}
