// A kernel's inputs and outputs in TensorFlow's C interface.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "training/kernels.h"
#include "training/tensorflow_api.h"

namespace training {

using Shape = std::vector<std::int64_t>;

template <typename Number>
constexpr TF_DataType kDataType = TF_FLOAT;
template <>
inline constexpr TF_DataType kDataType<Bfloat16> = TF_BFLOAT16;

// An error that TensorFlow reports.
class StatusError : public std::runtime_error {
 public:
  StatusError(TF_Code code, const char* message) : std::runtime_error(message), code_(code) {}

  TF_Code code() const { return code_; }

 private:
  TF_Code code_;
};

class Status {
 public:
  Status() : status_(TF_NewStatus()) {}

  operator TF_Status*() { return status_.get(); }  // NOLINT: the interface takes a pointer

  void throw_if_failed() const {
    const TF_Code code = TF_GetCode(status_.get());
    if (code != TF_OK) throw StatusError(code, TF_Message(status_.get()));
  }

 private:
  struct Delete {
    void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
  };
  std::unique_ptr<TF_Status, Delete> status_;
};

class Tensor {
 public:
  explicit Tensor(TF_Tensor* tensor) : tensor_(tensor) {}

  Shape shape() const {
    Shape shape;
    for (int index = 0; index < TF_NumDims(tensor_.get()); ++index) shape.push_back(TF_Dim(tensor_.get(), index));
    return shape;
  }

  std::size_t size() const { return static_cast<std::size_t>(TF_TensorElementCount(tensor_.get())); }

  TF_DataType type() const { return TF_TensorType(tensor_.get()); }

  template <typename Number>
  Number* data() const {
    return static_cast<Number*>(TF_TensorData(tensor_.get()));
  }

 private:
  struct Delete {
    void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
  };
  std::unique_ptr<TF_Tensor, Delete> tensor_;
};

// Throws StatusError if TensorFlow reports an error, and std::invalid_argument for a wrong shape.
class KernelContext {
 public:
  explicit KernelContext(TF_OpKernelContext* context) : context_(context) {}

  int inputs() const { return TF_NumInputs(context_); }

  Tensor input(int index) const {
    Status status;
    TF_Tensor* tensor = nullptr;
    TF_GetInput(context_, index, &tensor, status);
    status.throw_if_failed();
    return Tensor(tensor);
  }

  Tensor input(int index, const Shape& shape, const char* name) const {
    Tensor tensor = input(index);
    if (tensor.shape() != shape) {
      throw std::invalid_argument(std::string(name) + " must be " + shown(shape) + ", not " + shown(tensor.shape()));
    }
    return tensor;
  }

  template <typename Number>
  Tensor output(int index, const Shape& shape) const {
    std::size_t bytes = sizeof(Number);
    for (const std::int64_t dimension : shape) bytes *= static_cast<std::size_t>(dimension);
    Status status;
    TF_Tensor* const tensor = TF_AllocateOutput(context_, index, kDataType<Number>, shape.data(),
                                                static_cast<int>(shape.size()), bytes, status);
    status.throw_if_failed();
    return Tensor(tensor);
  }

  // An output in the memory of an input of the same type and shape, if nothing else refers to that memory.
  Tensor output_instead_of(int input, int index, const Shape& shape) const {
    Status status;
    int forwarded = -1;
    TF_Tensor* const tensor = TF_ForwardInputOrAllocateOutput(context_, &input, 1, index, shape.data(),
                                                              static_cast<int>(shape.size()), &forwarded, status);
    status.throw_if_failed();
    return Tensor(tensor);
  }

  static std::string shown(const Shape& shape) {
    std::string text = "[";
    for (const std::int64_t dimension : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
    return text + "]";
  }

 private:
  TF_OpKernelContext* context_;
};

}  // namespace training
