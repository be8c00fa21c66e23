#include "c_api/calls.h"

#include <new>
#include <stdexcept>

#include "c_api/failure.h"

namespace speech {

// It is never destroyed, as callers may still free objects while the process ends.
Given& given() {
  static Given& all = *new Given;
  return all;
}

LastFailure& last_failure() {
  thread_local LastFailure failure;
  return failure;
}

int LastFailure::take_current() noexcept {
  constexpr char kOutOfMemory[] = "this needs more memory than there is";
  const auto set = [this](int new_code, const char* what) {
    code = new_code;
    try {
      message = what;
    } catch (const std::exception&) {
      message.clear();
    }
    return code;
  };
  try {
    throw;
  } catch (const Failure& failure) {
    return set(failure.code(), failure.what());
  } catch (const std::bad_alloc&) {
    return set(DS_ERR_OUT_OF_MEMORY, kOutOfMemory);
  } catch (const std::length_error&) {
    return set(DS_ERR_OUT_OF_MEMORY, kOutOfMemory);
  } catch (const std::exception& error) {
    return set(DS_ERR_INTERNAL, error.what());
  }
}

void require(bool condition, const char* what) {
  if (!condition) throw Failure(DS_ERR_INVALID_ARGUMENT, what);
}

void require_samples(const short* samples, unsigned int count) {
  require(samples || count == 0, "the samples are NULL");
}

std::size_t checked_count(unsigned int count) {
  require(count >= 1, "the number of results must be 1 or more");
  return count;
}

void create_model(const char* path, const char* precision, ModelState** place) {
  require(place, "the place for the model is NULL");
  *place = nullptr;
  if (!path || !*path) throw Failure(DS_ERR_NO_MODEL, "no model was given");
  require(precision, "the precision is NULL");
  *place = given().models.add(std::make_shared<Model>(path, precision_named(precision)));
}

std::unique_ptr<Recognition> recognition_of(ModelState* model, const short* samples, unsigned int count) {
  const std::shared_ptr<Model> found = given().models.find(model);
  require_samples(samples, count);
  std::unique_ptr<Recognition> recognition = found->begin();
  recognition->feed(samples, count);
  return recognition;
}

}  // namespace speech
