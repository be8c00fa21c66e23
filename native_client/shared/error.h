// The only exception of the decoder library. Its message says what is wrong, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace ctc {

// The text as one line of UTF-8 that can be printed: bytes that are not UTF-8, and characters that control the terminal
// or end a line, become "\x1b" and the like. Long texts are cut.
std::string printable(const std::string& text);

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(printable(message)) {}
};

}  // namespace ctc
