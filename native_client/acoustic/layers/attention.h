// Attention: the means of the values of rows, weighted by the products of their keys and queries.
#pragma once

#include <cstddef>

#include "shared/machines.h"

namespace acoustic {

using shared::Machine;
using shared::machines;

// A head's part of the rows of an utterance: `size` numbers in each row; rows begin `stride` numbers apart.
struct Head {
  const float* keys;
  const float* values;
  std::size_t rows, size, stride;
};

// means [count, size] = the sum over the head's rows of their values, weighted by the softmax over the rows of the
// products of a query and their keys / sqrt(size). Means and queries have the head's stride.
void attend(const Head& head, const float* queries, std::size_t count, float* means,
            Machine machine = machines().back());

}  // namespace acoustic
