// The part of TensorFlow's C interface for kernels that ops.cc uses; the headers c/kernels.h, c/ops.h, c/tf_tensor.h
// and c/tf_status.h say what each function does. The declarations here let this build without TensorFlow, and let one
// build serve every version that has these functions, which are found when TensorFlow loads the ops.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct TF_KernelBuilder;
struct TF_OpDefinitionBuilder;
struct TF_OpKernelConstruction;
struct TF_OpKernelContext;
struct TF_ShapeInferenceContext;
struct TF_Status;
struct TF_Tensor;

enum TF_DataType { TF_FLOAT = 1, TF_INT32 = 3, TF_INT64 = 9, TF_BFLOAT16 = 14 };
enum TF_Code { TF_OK = 0, TF_INVALID_ARGUMENT = 3, TF_RESOURCE_EXHAUSTED = 8 };

TF_Status* TF_NewStatus();
void TF_DeleteStatus(TF_Status*);
TF_Code TF_GetCode(const TF_Status*);
const char* TF_Message(const TF_Status*);
void TF_SetStatus(TF_Status*, TF_Code, const char* message);

void TF_DeleteTensor(TF_Tensor*);
TF_DataType TF_TensorType(const TF_Tensor*);
int TF_NumDims(const TF_Tensor*);
std::int64_t TF_Dim(const TF_Tensor*, int index);
std::int64_t TF_TensorElementCount(const TF_Tensor*);
void* TF_TensorData(const TF_Tensor*);

TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* name);
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder*, const char* specification);
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder*, const char* specification);
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder*, const char* specification);
void TF_OpDefinitionBuilderSetShapeInferenceFunction(TF_OpDefinitionBuilder*,
                                                     void (*)(TF_ShapeInferenceContext*, TF_Status*));
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder*, TF_Status*);
void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext*, TF_Status*);

TF_KernelBuilder* TF_NewKernelBuilder(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*),
                                      void (*compute)(void*, TF_OpKernelContext*), void (*destroy)(void*));
void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder*, const char* attribute, TF_DataType, TF_Status*);
void TF_RegisterKernelBuilder(const char* name, TF_KernelBuilder*, TF_Status*);
void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction*, const char* name, float* value, TF_Status*);
void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction*, const char* name, std::int64_t* value, TF_Status*);
void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction*, TF_Status*);

int TF_NumInputs(TF_OpKernelContext*);
void TF_GetInput(TF_OpKernelContext*, int index, TF_Tensor**, TF_Status*);
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext*, int index, TF_DataType, const std::int64_t* dimensions, int rank,
                             std::size_t bytes, TF_Status*);
TF_Tensor* TF_ForwardInputOrAllocateOutput(TF_OpKernelContext*, const int* inputs, int input_count, int output,
                                           const std::int64_t* dimensions, int rank, int* forwarded, TF_Status*);
void TF_OpKernelContext_Failure(TF_OpKernelContext*, TF_Status*);

}  // extern "C"
