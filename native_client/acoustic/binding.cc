// The Python module deepspeech._acoustic.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <stdexcept>

#include "recurrence.h"

namespace py = pybind11;

namespace {

using FloatArray = py::array_t<float, py::array::c_style>;
using ShortArray = py::array_t<std::int16_t, py::array::c_style>;

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

py::tuple run(const FloatArray& gates, const ShortArray& weights, const FloatArray& scales, const FloatArray& cell,
              const FloatArray& state) {
  const auto columns = static_cast<py::ssize_t>(acoustic::kColumns);
  const auto lanes = static_cast<py::ssize_t>(acoustic::kLanes);
  require(weights.ndim() == 3 && weights.shape(2) == columns, "weights must be [blocks, units, 64]");
  const py::ssize_t blocks = weights.shape(0);
  require(weights.shape(1) <= blocks * lanes, "there are more units than the blocks hold");
  require(gates.ndim() == 2 && gates.shape(1) == blocks * columns, "gates must be [frames, blocks * 64]");
  require(scales.ndim() == 1 && scales.shape(0) == blocks * columns, "scales must be [blocks * 64]");
  require(cell.ndim() == 1 && cell.shape(0) == blocks * lanes, "the cell must be [blocks * 16]");
  require(state.ndim() == 1 && state.shape(0) == blocks * lanes, "the state must be [blocks * 16]");

  FloatArray hidden({gates.shape(0), blocks * lanes});
  FloatArray new_cell(cell.shape(0), cell.data());
  FloatArray new_state(state.shape(0), state.data());
  const acoustic::Weights view{weights.data(), scales.data(), static_cast<std::size_t>(blocks),
                               static_cast<std::size_t>(weights.shape(1))};
  const float* const inputs = gates.data();
  const auto frames = static_cast<std::size_t>(gates.shape(0));
  float* const cells = new_cell.mutable_data();
  float* const states = new_state.mutable_data();
  float* const outputs = hidden.mutable_data();
  {
    const py::gil_scoped_release release;
    acoustic::run(view, inputs, frames, cells, states, outputs);
  }
  return py::make_tuple(hidden, new_cell, new_state);
}

}  // namespace

PYBIND11_MODULE(_acoustic, module) {
  module.def("run", run, py::arg("gates").noconvert(), py::arg("weights").noconvert(), py::arg("scales").noconvert(),
             py::arg("cell").noconvert(), py::arg("state").noconvert());
}
