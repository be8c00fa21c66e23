#include "recurrence.h"

#include <cstring>

namespace acoustic {
namespace {

#define MACHINE any_machine
#include "recurrence_kernel.inc"
#undef MACHINE

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_SEVERAL_KERNELS

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define MACHINE avx2
#include "recurrence_kernel.inc"
#undef MACHINE
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")
#define MACHINE avx512
#include "recurrence_kernel.inc"
#undef MACHINE
#pragma GCC pop_options
#endif

using Kernel = void (*)(const Weights&, const float*, std::size_t, float*, float*, float*);

// The best kernel for this machine.
Kernel choose_kernel() {
#ifdef HAS_SEVERAL_KERNELS
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return avx512::run;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::run;
#endif
  return any_machine::run;
}

}  // namespace

void run(const Weights& weights, const float* gates, std::size_t frames, float* cell, float* state, float* hidden) {
  static const Kernel kernel = choose_kernel();
  kernel(weights, gates, frames, cell, state, hidden);
}

}  // namespace acoustic
