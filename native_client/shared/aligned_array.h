// Arrays that begin at a cache line: loads of vectors and tiles that cross two lines take twice as long.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace shared {

constexpr std::size_t kCacheLine = 64;

struct FreeAligned {
  void operator()(void* array) const { ::operator delete(array, std::align_val_t(kCacheLine)); }
};

// An array of uninitialized numbers.
template <class Number>
using AlignedArray = std::unique_ptr<Number[], FreeAligned>;

template <class Number>
AlignedArray<Number> aligned_array(std::size_t size) {
  void* const array = ::operator new(size * sizeof(Number), std::align_val_t(kCacheLine));
  return AlignedArray<Number>(static_cast<Number*>(array));
}

}  // namespace shared
