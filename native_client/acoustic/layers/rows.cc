#include "acoustic/layers/rows.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace acoustic {
namespace {

constexpr float kEpsilon = 1e-5f;  // layer normalization adds this to the variance

struct Kernels {
  void (*normalize)(const Normalization& layer, const float* inputs, std::size_t rows, float* outputs);
  void (*swish)(float* values, const Rows& rows);
  void (*gate)(const float* values, const Rows& rows, float* outputs);
  void (*add)(const float* values, const Rows& rows, float factor, float* sums);
  void (*convolve)(const Depthwise& layer, const float* inputs, std::size_t rows, float* outputs);
};

#define KERNELS "acoustic/layers/row_kernels.inc"
#include "shared/each_machine.inc"

const Kernels& kernels_of(Machine machine) { return OF_MACHINE(machine, kernels); }

}  // namespace

void normalize(const Normalization& layer, const float* inputs, std::size_t rows, float* outputs, Machine machine) {
  kernels_of(machine).normalize(layer, inputs, rows, outputs);
}

void swish(float* values, const Rows& rows, Machine machine) { kernels_of(machine).swish(values, rows); }

void gate(const float* values, const Rows& rows, float* outputs, Machine machine) {
  kernels_of(machine).gate(values, rows, outputs);
}

void add(const float* values, const Rows& rows, float factor, float* sums, Machine machine) {
  kernels_of(machine).add(values, rows, factor, sums);
}

void convolve(const Depthwise& layer, const float* inputs, std::size_t rows, float* outputs, Machine machine) {
  kernels_of(machine).convolve(layer, inputs, rows, outputs);
}

}  // namespace acoustic
