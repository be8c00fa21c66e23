// The common parts of the interface's functions: the objects that callers hold, and the codes of failures.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "c_api/handles.h"
#include "c_api/recognition/model.h"
#include "c_api/results.h"

namespace speech {

// A stream, with the failure of a feed, which cannot report it itself.
struct OpenStream {
  explicit OpenStream(std::unique_ptr<Recognition> begun) : recognition(std::move(begun)) {}

  // Throws that failure.
  void check() {
    const std::lock_guard lock(in_use);
    if (failure) std::rethrow_exception(failure);
  }

  const std::unique_ptr<Recognition> recognition;
  std::mutex in_use;
  std::exception_ptr failure;
};

// The objects that callers hold.
struct Given {
  Handles<ModelState, Model> models{"the model"};
  Handles<StreamingState, OpenStream> streams{"the stream"};
  Results results;
};

Given& given();

// The last failure on a thread.
struct LastFailure {
  int code = DS_ERR_OK;
  std::string message;

  // Takes the exception that is being handled, and returns its code.
  int take_current() noexcept;
};

LastFailure& last_failure();

// Runs `work`, which may throw, and returns its code.
template <class Work>
int checked(const Work& work) noexcept {
  try {
    work();
    return DS_ERR_OK;
  } catch (...) {
    return last_failure().take_current();
  }
}

// The same for work that returns a value; returns `failed` if it throws.
template <class Value, class Work>
Value checked_value(Value failed, const Work& work) noexcept {
  Value value = failed;
  checked([&] { value = work(); });
  return value;
}

// Throw Failure for invalid arguments.
void require(bool condition, const char* what);
void require_samples(const short* samples, unsigned int count);
std::size_t checked_count(unsigned int count);

// Loads a model in a precision of this name into *place; sets it to NULL if the model cannot be used.
void create_model(const char* path, const char* precision, ModelState** place);

// An utterance that was fed all samples of a recording.
std::unique_ptr<Recognition> recognition_of(ModelState* model, const short* samples, unsigned int count);

}  // namespace speech
