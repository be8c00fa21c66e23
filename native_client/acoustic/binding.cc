// The Python module deepspeech._acoustic.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "kernels.h"

namespace py = pybind11;

namespace {

using FloatArray = py::array_t<float, py::array::c_style>;
using ShortArray = py::array_t<std::int16_t, py::array::c_style>;

constexpr auto kColumns = static_cast<py::ssize_t>(acoustic::kColumns);
constexpr auto kLanes = static_cast<py::ssize_t>(acoustic::kLanes);

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

// A matrix, and what is added to its products. Python's side of acoustic::Weights.
class Matrix {
 public:
  Matrix(ShortArray values, FloatArray scales, FloatArray bias)
      : values_(std::move(values)), scales_(std::move(scales)), bias_(std::move(bias)) {
    require(values_.ndim() == 3 && values_.shape(2) == kColumns, "values must be [blocks, rows, 64]");
    const py::ssize_t columns = values_.shape(0) * kColumns;
    require(scales_.ndim() == 1 && scales_.shape(0) == columns, "scales must be [blocks * 64]");
    require(bias_.ndim() == 1 && bias_.shape(0) == columns, "the bias must be [blocks * 64]");
  }

  py::ssize_t blocks() const { return values_.shape(0); }
  py::ssize_t rows() const { return values_.shape(1); }

  FloatArray dense(const FloatArray& inputs, float low, float high, std::size_t threads) const {
    require(inputs.ndim() == 2 && inputs.shape(1) == rows(), "inputs must be [frames, rows]");
    FloatArray outputs({inputs.shape(0), blocks() * kColumns});
    const float* const from = inputs.data();
    float* const to = outputs.mutable_data();
    const auto frames = static_cast<std::size_t>(inputs.shape(0));
    const acoustic::Weights weights = view();
    {
      const py::gil_scoped_release release;
      acoustic::dense(weights, from, frames, low, high, threads, to);
    }
    return outputs;
  }

  py::tuple recurrence(const FloatArray& gates, const FloatArray& cell, const FloatArray& state) const {
    require(rows() <= blocks() * kLanes, "there are more units than the blocks hold");
    require(gates.ndim() == 2 && gates.shape(1) == blocks() * kColumns, "gates must be [frames, blocks * 64]");
    require(cell.ndim() == 1 && cell.shape(0) == blocks() * kLanes, "the cell must be [blocks * 16]");
    require(state.ndim() == 1 && state.shape(0) == blocks() * kLanes, "the state must be [blocks * 16]");
    FloatArray hidden({gates.shape(0), blocks() * kLanes});
    FloatArray new_cell(cell.shape(0), cell.data());
    FloatArray new_state(state.shape(0), state.data());
    const float* const from = gates.data();
    float* const cells = new_cell.mutable_data();
    float* const states = new_state.mutable_data();
    float* const to = hidden.mutable_data();
    const auto frames = static_cast<std::size_t>(gates.shape(0));
    const acoustic::Weights weights = view();
    {
      const py::gil_scoped_release release;
      acoustic::recurrence(weights, from, frames, cells, states, to);
    }
    return py::make_tuple(hidden, new_cell, new_state);
  }

 private:
  acoustic::Weights view() const {
    return {values_.data(), scales_.data(), bias_.data(), static_cast<std::size_t>(blocks()),
            static_cast<std::size_t>(rows())};
  }

  ShortArray values_;
  FloatArray scales_;
  FloatArray bias_;
};

}  // namespace

PYBIND11_MODULE(_acoustic, module) {
  py::class_<Matrix>(module, "Matrix")
      .def(py::init<ShortArray, FloatArray, FloatArray>(), py::arg("values"), py::arg("scales"), py::arg("bias"))
      .def("dense", &Matrix::dense, py::arg("inputs"), py::arg("low"), py::arg("high"), py::arg("threads"))
      .def("recurrence", &Matrix::recurrence, py::arg("gates"), py::arg("cell"), py::arg("state"));
}
