#include "c_api/weights/product.h"

#include <algorithm>
#include <utility>

#include "c_api/failure.h"

namespace speech {
namespace {

using Blocks = std::variant<FloatBlocks, Bfloat16Blocks, Int8Blocks>;

Blocks blocks_of(const Matrix& matrix, Precision precision) {
  if (precision == Precision::kInt8) return Blocks(std::in_place_type<Int8Blocks>, matrix);
  if (precision == Precision::kBfloat16) return Blocks(std::in_place_type<Bfloat16Blocks>, matrix);
  return Blocks(std::in_place_type<FloatBlocks>, matrix);
}

}  // namespace

Precision precision_named(const std::string& name) {
  if (name == "float32") return Precision::kFloat32;
  if (name == "bfloat16") return Precision::kBfloat16;
  if (name == "int8") return Precision::kInt8;
  if (name == "auto") {
    const bool is_fast = acoustic::machines().back() >= acoustic::Machine::kAvx512Vnni;
    return is_fast ? Precision::kInt8 : Precision::kFloat32;
  }
  throw Failure(DS_ERR_INVALID_ARGUMENT, "precision '" + name + "' is none of float32, bfloat16, int8, auto");
}

Product::Product(const Matrix& matrix, const float* bias, Precision precision)
    : rows_(matrix.rows),
      columns_(matrix.gates ? matrix.blocks() * acoustic::kColumns : matrix.columns),  // gates end inside blocks
      bias_(FloatBlocks({bias, 1, matrix.columns, matrix.gates}).weights),
      weights_(blocks_of(matrix, precision)) {}

std::vector<float> Product::run_filled(const std::vector<float>& inputs, float low, float high,
                                       std::size_t threads) const {
  const std::size_t frames = inputs.size() / rows_;
  std::vector<float> outputs(frames * width());
  layer().run(inputs.data(), frames, threads, outputs.data(), low, high);
  return outputs;
}

acoustic::Product Product::layer() const {
  const auto of_blocks = [&](const auto& blocks) { return acoustic::AnyDenseLayer(blocks.with(bias_.data())); };
  return {std::visit(of_blocks, weights_), columns_};
}

std::vector<float> Product::run(const std::vector<float>& inputs, float low, float high, std::size_t threads) const {
  return first_columns(run_filled(inputs, low, high, threads), width(), columns_);
}

std::vector<float> first_columns(std::vector<float> rows, std::size_t columns, std::size_t kept) {
  if (kept == columns) return rows;
  const std::size_t count = rows.size() / columns;
  for (std::size_t row = 1; row < count; ++row) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row * columns), kept,
                rows.begin() + static_cast<std::ptrdiff_t>(row * kept));
  }
  rows.resize(count * kept);
  return rows;
}

}  // namespace speech
