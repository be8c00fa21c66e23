// The objects that the library gives to its callers, by handles that are never reused, so that handles that were freed
// or made up are recognized.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "c_api/failure.h"

namespace speech {

// Objects behind opaque pointers, which are numbers and not addresses. An object that is removed while another thread
// uses it lives until that thread is done.
template <class Handle, class Object>
class Handles {
 public:
  // `what` names the objects in messages, as in "the model".
  explicit Handles(const char* what) : what_(what) {}

  Handle* add(std::shared_ptr<Object> object) {
    const std::lock_guard lock(changing_);
    const std::uintptr_t number = next_;
    objects_.emplace(number, std::move(object));
    next_ += kStep;
    return reinterpret_cast<Handle*>(number);
  }

  // Both throw Failure for NULL, and for anything that is not, or no longer, a handle.
  std::shared_ptr<Object> find(const Handle* handle) const {
    const std::lock_guard lock(changing_);
    return place_of(handle)->second;
  }
  std::shared_ptr<Object> remove(const Handle* handle) {
    const std::lock_guard lock(changing_);
    const auto place = place_of(handle);
    std::shared_ptr<Object> object = std::move(place->second);
    objects_.erase(place);
    return object;
  }

 private:
  static constexpr std::uintptr_t kStep = 16;  // so that handles look aligned

  using Objects = std::unordered_map<std::uintptr_t, std::shared_ptr<Object>>;

  typename Objects::const_iterator place_of(const Handle* handle) const {
    const auto place = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (!handle) throw Failure(DS_ERR_INVALID_ARGUMENT, std::string(what_) + " is NULL");
    if (place == objects_.end()) {
      throw Failure(DS_ERR_INVALID_HANDLE, std::string(what_) + " was freed or finished before, or is not a handle");
    }
    return place;
  }
  typename Objects::iterator place_of(const Handle* handle) {
    std::as_const(*this).place_of(handle);
    return objects_.find(reinterpret_cast<std::uintptr_t>(handle));
  }

  const char* const what_;
  mutable std::mutex changing_;
  Objects objects_;
  std::uintptr_t next_ = kStep;
};

}  // namespace speech
