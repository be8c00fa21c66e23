#include "decoder/posteriors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "shared/error.h"

namespace ctc {
namespace {

// The error of a softmax in half precision is smaller.
constexpr double kSumTolerance = 0.01;

[[noreturn]] void refuse(std::size_t frame, std::size_t column, double value) {
  std::ostringstream message;
  message << "frame " << frame << ", column " << column << " of the posteriors is " << value
          << ", which is not a probability; give the softmax of the acoustic model's logits";
  throw Error(message.str());
}

[[noreturn]] void refuse_sum(std::size_t frame, double sum) {
  std::ostringstream message;
  message << "frame " << frame << " of the posteriors sums up to " << sum
          << " instead of 1; give the softmax of the acoustic model's logits";
  throw Error(message.str());
}

template <class Value>
void read(const char* at, std::ptrdiff_t stride, std::vector<float>& logarithms, std::size_t frame) {
  constexpr float kSmallest = std::numeric_limits<float>::min();
  double sum = 0;
  for (std::size_t column = 0; column < logarithms.size(); ++column, at += stride) {
    Value value;
    std::memcpy(&value, at, sizeof(value));  // views of packed records are not aligned
    if (!(value >= 0 && value <= Value(1 + kSumTolerance))) refuse(frame, column, value);
    sum += value;
    logarithms[column] = std::log(std::max(static_cast<float>(value), kSmallest));
  }
  if (std::abs(sum - 1) > kSumTolerance) refuse_sum(frame, sum);
}

}  // namespace

void Posteriors::read_frame(std::size_t frame, std::vector<float>& logarithms, std::size_t first_frame) const {
  logarithms.resize(columns);
  const char* at = static_cast<const char*>(data) + static_cast<std::ptrdiff_t>(frame) * frame_stride;
  if (double_precision) {
    read<double>(at, column_stride, logarithms, first_frame + frame);
  } else {
    read<float>(at, column_stride, logarithms, first_frame + frame);
  }
}

}  // namespace ctc
