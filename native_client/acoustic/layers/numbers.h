// Rows of numbers that layers keep and pass on.
#pragma once

#include <cstddef>
#include <vector>

namespace acoustic {

using Numbers = std::vector<float>;

inline void append(const float* values, std::size_t size, Numbers& to) { to.insert(to.end(), values, values + size); }

// Removes the first numbers and returns them.
inline Numbers taken(std::size_t size, Numbers& from) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(size);
  Numbers first(from.begin(), end);
  from.erase(from.begin(), end);
  return first;
}

}  // namespace acoustic
