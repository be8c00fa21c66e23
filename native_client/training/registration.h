// Registers operations and their kernels with TensorFlow.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>

#include "training/kernel_context.h"
#include "training/tensorflow_api.h"

namespace training {

// The attributes that these operations have; one that an operation lacks stays zero.
struct Attributes {
  std::int64_t threads = 0;
  float clip = 0;
  float rate = 0;
  float epsilon = 0;
};

inline void* create(TF_OpKernelConstruction* construction) {
  auto attributes = std::make_unique<Attributes>();
  Status absent;  // not every operation has every attribute
  TF_OpKernelConstruction_GetAttrFloat(construction, "clip", &attributes->clip, absent);
  TF_OpKernelConstruction_GetAttrFloat(construction, "rate", &attributes->rate, absent);
  TF_OpKernelConstruction_GetAttrFloat(construction, "epsilon", &attributes->epsilon, absent);
  Status status;
  TF_OpKernelConstruction_GetAttrInt64(construction, "threads", &attributes->threads, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(construction, status);
  return attributes.release();
}

inline void destroy(void* attributes) { delete static_cast<Attributes*>(attributes); }

inline void fail(TF_OpKernelContext* context, TF_Code code, const char* message) {
  Status status;
  TF_SetStatus(status, code, message);
  TF_OpKernelContext_Failure(context, status);
}

template <void (*kCompute)(const KernelContext&, const Attributes&)>
void compute(void* attributes, TF_OpKernelContext* context) {
  try {
    kCompute(KernelContext(context), *static_cast<const Attributes*>(attributes));
  } catch (const StatusError& error) {
    fail(context, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    fail(context, TF_RESOURCE_EXHAUSTED, "a step needs more memory than there is");
  } catch (const std::exception& error) {
    fail(context, TF_INVALID_ARGUMENT, error.what());
  }
}

inline constexpr const char* kType = "T: {float, bfloat16}";

inline void define(const char* name, std::initializer_list<const char*> inputs,
                   std::initializer_list<const char*> outputs, std::initializer_list<const char*> attributes) {
  TF_OpDefinitionBuilder* const builder = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddAttr(builder, "threads: int = 0");
  for (const char* attribute : attributes) TF_OpDefinitionBuilderAddAttr(builder, attribute);
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(builder, input);
  for (const char* output : outputs) TF_OpDefinitionBuilderAddOutput(builder, output);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, TF_ShapeInferenceContextSetUnknownShape);
  Status status;
  TF_RegisterOpDefinition(builder, status);
  status.throw_if_failed();
}

inline void add_kernel(const char* op, TF_DataType type, void (*kernel)(void*, TF_OpKernelContext*), bool typed = true) {
  TF_KernelBuilder* const builder = TF_NewKernelBuilder(op, "CPU", create, kernel, destroy);
  Status status;
  if (typed) TF_KernelBuilder_TypeConstraint(builder, "T", type, status);
  status.throw_if_failed();
  const std::string name = std::string(op) + (type == TF_FLOAT ? "Float" : "Bfloat16");
  TF_RegisterKernelBuilder(name.c_str(), builder, status);
  status.throw_if_failed();
}

// The kernels of an operation for both types.
template <void (*kFloat)(const KernelContext&, const Attributes&),
          void (*kBfloat16)(const KernelContext&, const Attributes&)>
void add_kernels(const char* op) {
  add_kernel(op, TF_FLOAT, compute<kFloat>);
  add_kernel(op, TF_BFLOAT16, compute<kBfloat16>);
}

}  // namespace training
