// The exception of this library: a message that says what failed, and its code in DeepSpeech's C interface.
#pragma once

#include <string>

#include "c_api/deepspeech.h"
#include "shared/error.h"

namespace speech {

class Failure : public ctc::Error {
 public:
  Failure(int code, const std::string& message) : Error(message), code_(code) {}

  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace speech
