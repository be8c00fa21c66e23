#include "acoustic/layers/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "shared/aligned_array.h"

namespace acoustic {
namespace {

#define KERNELS "acoustic/layers/attention_kernels.inc"
#include "shared/each_machine.inc"

}  // namespace

void attend(const Head& head, const float* queries, std::size_t count, float* means, Machine machine) {
  OF_MACHINE(machine, attend)(head, queries, count, means);
}

}  // namespace acoustic
