// The Python module deepspeech._acoustic.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "acoustic/kernels.h"

namespace py = pybind11;

namespace {

using FloatArray = py::array_t<float, py::array::c_style>;
using ShortArray = py::array_t<std::int16_t, py::array::c_style>;

constexpr auto kColumns = static_cast<py::ssize_t>(acoustic::kColumns);
constexpr auto kLanes = static_cast<py::ssize_t>(acoustic::kLanes);

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

class Dense {
 public:
  Dense(FloatArray weights, FloatArray bias) : weights_(std::move(weights)), bias_(std::move(bias)) {
    require(weights_.ndim() == 3 && weights_.shape(2) == kColumns, "weights must be [blocks, rows, 64]");
    require(bias_.ndim() == 1 && bias_.shape(0) == weights_.shape(0) * kColumns, "the bias must be [blocks * 64]");
  }

  FloatArray run(const FloatArray& inputs, float low, float high, std::size_t threads) const {
    require(inputs.ndim() == 2 && inputs.shape(1) == weights_.shape(1), "inputs must be [frames, rows]");
    FloatArray outputs({inputs.shape(0), weights_.shape(0) * kColumns});
    const acoustic::DenseLayer layer{weights_.data(), bias_.data(), static_cast<std::size_t>(weights_.shape(0)),
                                     static_cast<std::size_t>(weights_.shape(1))};
    const float* const from = inputs.data();
    float* const to = outputs.mutable_data();
    const auto frames = static_cast<std::size_t>(inputs.shape(0));
    {
      const py::gil_scoped_release release;
      acoustic::dense(layer, from, frames, low, high, threads, to);
    }
    return outputs;
  }

 private:
  FloatArray weights_;
  FloatArray bias_;
};

class Recurrence {
 public:
  Recurrence(ShortArray weights, FloatArray scales) : weights_(std::move(weights)), scales_(std::move(scales)) {
    require(weights_.ndim() == 3 && weights_.shape(2) == kColumns, "weights must be [blocks, rows, 64]");
    require(weights_.shape(1) <= weights_.shape(0) * kLanes, "there are more units than the blocks hold");
    require(scales_.ndim() == 1 && scales_.shape(0) == weights_.shape(0) * kColumns, "scales must be [blocks * 64]");
  }

  py::tuple run(const FloatArray& gates, std::vector<std::size_t> lengths, const FloatArray& cells,
                const FloatArray& states, std::size_t threads) const {
    const py::ssize_t blocks = weights_.shape(0);
    const auto utterances = static_cast<py::ssize_t>(lengths.size());
    require(gates.ndim() == 2 && gates.shape(1) == blocks * kColumns, "gates must be [frames, blocks * 64]");
    require(std::accumulate(lengths.begin(), lengths.end(), py::ssize_t{0}) == gates.shape(0),
            "the lengths must add up to the frames");
    for (const FloatArray* each : {&cells, &states}) {
      require(each->ndim() == 2 && each->shape(0) == utterances && each->shape(1) == blocks * kLanes,
              "cells and states must be [utterances, blocks * 16]");
    }
    FloatArray hidden({gates.shape(0), blocks * kLanes});
    FloatArray new_cells({utterances, blocks * kLanes}, cells.data());
    FloatArray new_states({utterances, blocks * kLanes}, states.data());
    const acoustic::RecurrentLayer layer{weights_.data(), scales_.data(), static_cast<std::size_t>(blocks),
                                         static_cast<std::size_t>(weights_.shape(1))};
    const acoustic::Utterances all{std::move(lengths), gates.data(), new_cells.mutable_data(),
                                   new_states.mutable_data(), hidden.mutable_data()};
    {
      const py::gil_scoped_release release;
      acoustic::recurrence(layer, all, threads);
    }
    return py::make_tuple(hidden, new_cells, new_states);
  }

 private:
  ShortArray weights_;
  FloatArray scales_;
};

}  // namespace

PYBIND11_MODULE(_acoustic, module) {
  py::class_<Dense>(module, "Dense")
      .def(py::init<FloatArray, FloatArray>(), py::arg("weights"), py::arg("bias"))
      .def("run", &Dense::run, py::arg("inputs"), py::arg("low"), py::arg("high"), py::arg("threads"));
  py::class_<Recurrence>(module, "Recurrence")
      .def(py::init<ShortArray, FloatArray>(), py::arg("weights"), py::arg("scales"))
      .def("run", &Recurrence::run, py::arg("gates"), py::arg("lengths"), py::arg("cells"), py::arg("states"),
           py::arg("threads"));
}
