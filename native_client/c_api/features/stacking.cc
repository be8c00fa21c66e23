#include "c_api/features/stacking.h"

#include <algorithm>

namespace speech {
namespace {

void drop_front(std::vector<float>& values, std::size_t count) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

void Stacking::feed(const std::vector<float>& frames, std::vector<float>& stacked) {
  if (stacked_ == 1 && skip_ == 1) {
    stacked.insert(stacked.end(), frames.begin(), frames.end());
    return;
  }
  if (!frames.empty()) last_.assign(frames.end() - static_cast<std::ptrdiff_t>(coefficients_), frames.end());
  held_.insert(held_.end(), frames.begin(), frames.end());
  const std::size_t dropped = std::min(gap_, held_.size() / coefficients_);
  gap_ -= dropped;
  drop_front(held_, dropped * coefficients_);
  std::size_t begin = 0;
  const std::size_t count = held_.size() / coefficients_;
  for (; begin + stacked_ <= count; begin += skip_) {
    const auto from = held_.begin() + static_cast<std::ptrdiff_t>(begin * coefficients_);
    stacked.insert(stacked.end(), from, from + static_cast<std::ptrdiff_t>(stacked_ * coefficients_));
  }
  gap_ += begin > count ? begin - count : 0;
  drop_front(held_, std::min(begin, count) * coefficients_);
}

void Stacking::finish(std::vector<float>& stacked) {
  const std::size_t count = held_.size() / coefficients_;
  for (std::size_t begin = 0; begin < count; begin += skip_) {
    for (std::size_t frame = begin; frame < begin + stacked_; ++frame) {
      const auto from = held_.begin() + static_cast<std::ptrdiff_t>(frame * coefficients_);
      const bool is_there = frame < count;
      stacked.insert(stacked.end(), is_there ? from : last_.begin(),
                     is_there ? from + static_cast<std::ptrdiff_t>(coefficients_) : last_.end());
    }
  }
  held_.clear();
}

}  // namespace speech
