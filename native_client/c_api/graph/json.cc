#include "c_api/graph/json.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "shared/utf8.h"

namespace speech {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20;     // bytes
constexpr std::size_t kMostValues = std::size_t{1} << 16;  // in a text
constexpr int kDeepest = 16;

void append_utf8(std::uint32_t code, std::string& text) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

}  // namespace

// Reads a text from beginning to end. All functions return false for anything but JSON.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : left_(text) {}

  bool read_all(Json& value) {
    if (!read_value(value, 0)) return false;
    skip_spaces();
    return left_.empty();
  }

 private:
  bool read_value(Json& value, int depth) {
    skip_spaces();
    if (left_.empty() || depth > kDeepest || values_++ == kMostValues) return false;
    switch (left_.front()) {
      case '{': return read_object(value, depth);
      case '[': return read_array(value, depth);
      case '"': value.kind_ = Json::Kind::kText; return read_text(value.text_);
      case 'n': value.kind_ = Json::Kind::kNull; return take("null");
      case 't': value.kind_ = Json::Kind::kTrue; return take("true");
      case 'f': value.kind_ = Json::Kind::kFalse; return take("false");
      default: return read_number(value);
    }
  }

  bool read_object(Json& value, int depth) {
    value.kind_ = Json::Kind::kObject;
    return read_list('{', '}', [&] {
      skip_spaces();
      value.names_.emplace_back();
      value.values_.emplace_back();
      if (!read_text(value.names_.back())) return false;
      skip_spaces();
      return take(":") && read_value(value.values_.back(), depth + 1);
    });
  }

  bool read_array(Json& value, int depth) {
    value.kind_ = Json::Kind::kArray;
    return read_list('[', ']', [&] {
      value.values_.emplace_back();
      return read_value(value.values_.back(), depth + 1);
    });
  }

  template <class ReadItem>
  bool read_list(char begin, char end, const ReadItem& read_item) {
    if (!take({&begin, 1})) return false;
    skip_spaces();
    if (take({&end, 1})) return true;
    do {
      if (!read_item()) return false;
      skip_spaces();
    } while (take(","));
    return take({&end, 1});
  }

  bool read_number(Json& value) {
    const std::size_t size = std::min(left_.find_first_not_of("+-.0123456789eE"), left_.size());
    const std::string_view written = left_.substr(0, size);
    const std::size_t digits = written.substr(0, 1) == "-" ? 1 : 0;
    if (written.size() == digits || written[digits] < '0' || written[digits] > '9') return false;
    const auto [end, error] = std::from_chars(written.data(), written.data() + size, value.number_);
    if (error != std::errc() || end != written.data() + size) return false;
    const bool is_integer = written.find_first_of(".eE") == std::string_view::npos;
    value.kind_ = is_integer ? Json::Kind::kInteger : Json::Kind::kNumber;
    left_.remove_prefix(size);
    return true;
  }

  bool read_text(std::string& text) {
    if (!take("\"")) return false;
    while (!left_.empty()) {
      const char next = left_.front();
      left_.remove_prefix(1);
      if (next == '"') return shared::is_utf8(text);
      if (static_cast<unsigned char>(next) < 0x20) return false;
      if (next != '\\') {
        text += next;
      } else if (!read_escape(text)) {
        return false;
      }
    }
    return false;
  }

  bool read_escape(std::string& text) {
    static constexpr std::string_view kWritten = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (left_.empty()) return false;
    const std::size_t place = kWritten.find(left_.front());
    if (place != std::string_view::npos) {
      text += kMeant[place];
      left_.remove_prefix(1);
      return true;
    }
    std::uint32_t code = 0, second = 0;
    if (!read_unit(code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {  // the first of a pair of UTF-16
      if (!take("\\") || !read_unit(second) || second < 0xDC00 || second > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
    }
    append_utf8(code, text);
    return true;
  }

  // Four hexadecimal digits after a u.
  bool read_unit(std::uint32_t& unit) {
    constexpr std::size_t kDigits = 4;
    if (!take("u") || left_.size() < kDigits) return false;
    const char* const begin = left_.data();
    const auto [end, error] = std::from_chars(begin, begin + kDigits, unit, 16);
    left_.remove_prefix(kDigits);
    return error == std::errc() && end == begin + kDigits;
  }

  bool take(std::string_view what) {
    if (left_.substr(0, what.size()) != what) return false;
    left_.remove_prefix(what.size());
    return true;
  }

  void skip_spaces() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size())); }

  std::string_view left_;
  std::size_t values_ = 0;
};

std::optional<Json> Json::parse(std::string_view text) {
  Json value;
  if (text.size() > kLongest || !JsonReader(text).read_all(value)) return std::nullopt;
  return value;
}

const Json* Json::find(std::string_view name) const {
  for (std::size_t place = names_.size(); place > 0; --place) {
    if (names_[place - 1] == name) return &values_[place - 1];
  }
  return nullptr;
}

}  // namespace speech
