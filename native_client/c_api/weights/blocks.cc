#include "c_api/weights/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace speech {
namespace {

using acoustic::kColumns;
using acoustic::kLanes;

constexpr std::size_t kGates = kColumns / kLanes;
constexpr float kLargestInt16 = 32767, kLargestInt8 = 127;  // the largest weight of a column is rounded to this
constexpr float kSmallestWeight = 1e-30f;

// The place of a column of a matrix.
struct Place {
  std::size_t block, column;
};

std::vector<Place> places_of(const Matrix& matrix) {
  std::vector<Place> places;
  for (std::size_t column = 0; column < matrix.columns; ++column) {
    if (matrix.gates) {
      const std::size_t units = matrix.columns / kGates, gate = column / units, unit = column % units;
      places.push_back({unit / kLanes, gate * kLanes + unit % kLanes});
    } else {
      places.push_back({column / kColumns, column % kColumns});
    }
  }
  return places;
}

// The factors of the integers of each column, which its largest weight determines.
std::vector<float> scales_of(const Matrix& matrix, float largest) {
  std::vector<float> scales(matrix.columns, kSmallestWeight);
  const float* value = matrix.values;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (float& scale : scales) scale = std::max(scale, std::abs(*value++));
  }
  for (float& scale : scales) scale /= largest;
  return scales;
}

Weights<float> in_blocks(const Matrix& matrix, const std::vector<float>& scales, float largest) {
  Weights<float> all(matrix.blocks() * kColumns, kSmallestWeight / largest);
  const std::vector<Place> places = places_of(matrix);
  for (std::size_t column = 0; column < matrix.columns; ++column) {
    all[places[column].block * kColumns + places[column].column] = scales[column];
  }
  return all;
}

// Calls put(block, row, column in the block, value, column) for all values of a matrix.
template <class Put>
void for_each(const Matrix& matrix, const Put& put) {
  const std::vector<Place> places = places_of(matrix);
  const float* value = matrix.values;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      put(places[column].block, row, places[column].column, *value++, column);
    }
  }
}

std::uint16_t bfloat16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);  // ties to even
}

}  // namespace

std::size_t Matrix::blocks() const {
  const std::size_t fit = gates ? kLanes : kColumns;
  return ((gates ? columns / kGates : columns) + fit - 1) / fit;
}

FloatBlocks::FloatBlocks(const Matrix& matrix)
    : blocks(matrix.blocks()), rows(matrix.rows), weights(blocks * rows * kColumns) {
  for_each(matrix, [&](std::size_t block, std::size_t row, std::size_t place, float value, std::size_t) {
    weights[(block * rows + row) * kColumns + place] = value;
  });
}

Int16Blocks::Int16Blocks(const Matrix& matrix)
    : blocks(matrix.blocks()), rows(matrix.rows), weights(blocks * rows * kColumns) {
  const std::vector<float> of_columns = scales_of(matrix, kLargestInt16);
  scales = in_blocks(matrix, of_columns, kLargestInt16);
  for_each(matrix, [&](std::size_t block, std::size_t row, std::size_t place, float value, std::size_t column) {
    const float rounded = std::nearbyint(value / of_columns[column]);
    weights[(block * rows + row) * kColumns + place] = static_cast<std::int16_t>(rounded);
  });
}

Int8Blocks::Int8Blocks(const Matrix& matrix)
    : blocks(matrix.blocks()), rows(matrix.rows), sums(blocks * kColumns) {
  const std::size_t filled = layer().filled_rows();
  weights.resize(blocks * filled * kColumns);
  const std::vector<float> of_columns = scales_of(matrix, kLargestInt8);
  scales = in_blocks(matrix, of_columns, kLargestInt8);
  for_each(matrix, [&](std::size_t block, std::size_t row, std::size_t place, float value, std::size_t column) {
    const auto rounded = static_cast<std::int8_t>(std::nearbyint(value / of_columns[column]));
    const std::size_t quad = row / acoustic::kQuad, in_quad = row % acoustic::kQuad;
    weights[(block * filled + quad * acoustic::kQuad) * kColumns + place * acoustic::kQuad + in_quad] = rounded;
    sums[block * kColumns + place] += rounded;
  });
}

Bfloat16Blocks::Bfloat16Blocks(const Matrix& matrix) : blocks(matrix.blocks()), rows(matrix.rows) {
  constexpr std::size_t kPair = acoustic::Bfloat16Weights::kPair;
  const std::size_t filled = layer().filled_rows();
  weights.resize(blocks * filled * kColumns);
  for_each(matrix, [&](std::size_t block, std::size_t row, std::size_t place, float value, std::size_t) {
    const std::size_t pair = row / kPair, in_pair = row % kPair;
    weights[(block * filled + pair * kPair) * kColumns + place * kPair + in_pair] = bfloat16(value);
  });
}

}  // namespace speech
