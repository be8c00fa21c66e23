#include "c_api/graph/protobuf.h"

#include <cstring>

#include "c_api/failure.h"

namespace speech {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

[[noreturn]] void refuse(const char* why) { throw Failure(DS_ERR_FAIL_READ_PROTOBUF, why); }

[[noreturn]] void refuse_kind() { refuse("is not a protocol buffer of the expected kind"); }

}  // namespace

void FieldBudget::spend() {
  if (left_ == 0) refuse("is not a speech model, as it has too many fields");
  --left_;
}

std::int64_t Field::as_integer() const {
  if (!is_varint) refuse_kind();
  return static_cast<std::int64_t>(varint);
}

std::string_view Field::as_bytes() const {
  if (is_varint) refuse_kind();
  return bytes;
}

float Field::as_float() const {
  float value;
  if (is_varint || bytes.size() != sizeof value) refuse_kind();
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool FieldReader::next(Field& field) {
  if (left_.empty()) return false;
  budget_.spend();
  const std::uint64_t key = take_varint(left_);
  field = {};
  field.number = key >> 3;
  if (field.number == 0) refuse("is not a protocol buffer");
  std::uint64_t size = 0;
  switch (key & 7) {
    case kVarint:
      field.is_varint = true;
      field.varint = take_varint(left_);
      return true;
    case kLengthDelimited: size = take_varint(left_); break;
    case kFixed32: size = 4; break;
    case kFixed64: size = 8; break;
    default: refuse("is not a protocol buffer");
  }
  if (size > left_.size()) refuse("is not a protocol buffer, or a truncated one");
  field.bytes = left_.substr(0, size);
  left_.remove_prefix(size);
  return true;
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  refuse("is not a protocol buffer, or a truncated one");
}

}  // namespace speech
