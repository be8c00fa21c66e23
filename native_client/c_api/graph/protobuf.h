// Reading protocol buffers without their library: fields by number, directly from the bytes.
//
// Encoding: https://protobuf.dev/programming-guides/encoding/. This has only what TensorFlow's graphs need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace speech {

// The number of fields of a file that may still be read, which bounds the time and memory that it can take. The largest
// graphs of speech models have some thousands.
class FieldBudget {
 public:
  // Counts one more field; throws Failure if the budget is spent.
  void spend();

 private:
  std::size_t left_ = std::size_t{1} << 18;
};

// A field of a message: a varint, as an unsigned number, or bytes.
struct Field {
  std::uint64_t number = 0;
  bool is_varint = false;
  std::uint64_t varint = 0;
  std::string_view bytes;

  // The value of a field, which must be of this kind; throw Failure otherwise.
  std::int64_t as_integer() const;
  std::string_view as_bytes() const;
  float as_float() const;
};

// Reads the fields of a message in order. The bytes, and the budget of their file, must outlive it.
class FieldReader {
 public:
  FieldReader(std::string_view message, FieldBudget& budget) : left_(message), budget_(budget) {}

  // Reads the next field; false at the end. Throws Failure if this is not a message, or if the budget is spent.
  bool next(Field& field);

 private:
  std::string_view left_;
  FieldBudget& budget_;
};

// Removes a varint from the front of `bytes`. Throws Failure if there is none.
std::uint64_t take_varint(std::string_view& bytes);

}  // namespace speech
