// The one exception of the decoder library. Its message says what was wrong, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace ctc {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace ctc
