// Attention: the means of the values of rows, weighted by how well their keys fit queries.
#pragma once

#include <cstddef>

#include "shared/machines.h"

namespace acoustic {

using shared::Machine;
using shared::machines;

// A head's share of the rows of an utterance: `size` numbers, the first of each row `stride` numbers after that of the
// row before.
struct Head {
  const float* keys;
  const float* values;
  std::size_t rows, size, stride;
};

// means [count, size], as far apart as the head's rows, = the sum over the head's rows of their values, weighted by the
// softmax over them of the products of a query and their keys / sqrt(size). Queries lie as the rows do.
void attend(const Head& head, const float* queries, std::size_t count, float* means,
            Machine machine = machines().back());

}  // namespace acoustic
