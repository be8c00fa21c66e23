#include "acoustic/bfloat16.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "acoustic/rounded_layers.h"
#include "shared/aligned_array.h"

#ifdef HAS_SEVERAL_MACHINES
#include <immintrin.h>
#endif

namespace acoustic {
namespace {

// Inputs that are rounded to bfloat16.
struct Rounded {
  std::size_t count, width;                    // width: filled rows
  shared::AlignedArray<std::uint16_t> values;  // [count, width]

  Rounded(std::size_t count, std::size_t width)
      : count(count), width(width), values(shared::aligned_array<std::uint16_t>(count * width)) {}

  std::uint16_t* row(std::size_t number) const { return values.get() + number * width; }
};

using Kernels = RoundedKernels<Rounded, Bfloat16DenseLayer, Bfloat16Weights>;

#define KERNELS "acoustic/bfloat16_kernels.inc"

#include "shared/each_machine.inc"

#ifdef HAS_SEVERAL_MACHINES
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma,prefer-vector-width=512")
#define HAS_BFLOAT16_PRODUCTS
#define VECTOR_BYTES 64
#define MACHINE avx512_bfloat16
#include KERNELS
#undef MACHINE
#undef HAS_BFLOAT16_PRODUCTS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-bf16,fma,prefer-vector-width=512")
#define HAS_TILES
#define MACHINE amx
#include KERNELS
#undef MACHINE
#undef HAS_TILES
#undef VECTOR_BYTES
#pragma GCC pop_options
#endif

const Kernels& kernels_of(Machine machine) {
#ifdef HAS_SEVERAL_MACHINES
  if (machine >= Machine::kAmx) return amx::kernels;
  if (machine >= Machine::kAvx512Bfloat16) return avx512_bfloat16::kernels;
  if (machine >= Machine::kAvx512) return avx512::kernels;
  if (machine >= Machine::kAvx2) return avx2::kernels;
#endif
  (void)machine;
  return any_machine::kernels;
}

}  // namespace

void dense(const Bfloat16DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  rounded_dense(kernels_of(machine), layer, inputs, frames, low, high, threads, outputs);
}

void recurrence(const Bfloat16Weights& weights, const Utterances& utterances, std::size_t threads, Machine machine) {
  rounded_recurrence(kernels_of(machine), weights, utterances, threads);
}

}  // namespace acoustic
