#include "acoustic/int8.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "acoustic/rounded_layers.h"
#include "shared/aligned_array.h"

#ifdef HAS_SEVERAL_MACHINES
#include <immintrin.h>
#endif

namespace acoustic {
namespace {

// Inputs that are rounded to integers with a scale for each row.
struct Rounded {
  std::size_t count, width;                  // width: filled rows
  shared::AlignedArray<std::uint8_t> bytes;  // [count, width]
  std::vector<float> scales;                 // [count]

  Rounded(std::size_t count, std::size_t width)
      : count(count), width(width), bytes(shared::aligned_array<std::uint8_t>(count * width)), scales(count) {}

  std::uint8_t* row(std::size_t number) const { return bytes.get() + number * width; }
};

using Kernels = RoundedKernels<Rounded, Int8DenseLayer, Int8Weights>;

#define KERNELS "acoustic/int8_kernels.inc"

#define MACHINE any_machine
#define VECTOR_BYTES 16
#include KERNELS
#undef VECTOR_BYTES
#undef MACHINE

#ifdef HAS_SEVERAL_MACHINES
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define HAS_PAIR_PRODUCTS
#define MACHINE avx2
#define VECTOR_BYTES 32
#include KERNELS
#undef VECTOR_BYTES
#undef MACHINE
#undef HAS_PAIR_PRODUCTS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,prefer-vector-width=512")
#define HAS_VNNI
#define VECTOR_BYTES 64
#define MACHINE avx512_vnni
#include KERNELS
#undef MACHINE
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8,fma,prefer-vector-width=512")
#define HAS_TILES
#define MACHINE amx
#include KERNELS
#undef MACHINE
#undef HAS_TILES
#undef VECTOR_BYTES
#undef HAS_VNNI
#pragma GCC pop_options
#endif

const Kernels& kernels_of(Machine machine) {
#ifdef HAS_SEVERAL_MACHINES
  if (machine >= Machine::kAmx) return amx::kernels;
  if (machine >= Machine::kAvx512Vnni) return avx512_vnni::kernels;
  if (machine >= Machine::kAvx2) return avx2::kernels;
#endif
  (void)machine;
  return any_machine::kernels;
}

}  // namespace

void dense(const Int8DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  rounded_dense(kernels_of(machine), layer, inputs, frames, low, high, threads, outputs);
}

void recurrence(const Int8Weights& weights, const Utterances& utterances, std::size_t threads, Machine machine) {
  rounded_recurrence(kernels_of(machine), weights, utterances, threads);
}

}  // namespace acoustic
