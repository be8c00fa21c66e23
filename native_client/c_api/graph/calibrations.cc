#include "c_api/graph/calibrations.h"

#include <cmath>
#include <optional>

#include "c_api/failure.h"
#include "c_api/graph/json.h"

namespace speech {
namespace {

constexpr char kNode[] = "metadata_confidence";
constexpr double kLargestWeight = 1e6;  // as in Python; fitted weights are a few units

Calibration parse(const Json* value) {
  const auto weight = [&](const char* name) {
    const Json* const found = value ? value->find(name) : nullptr;
    if (!found || !found->number() || std::abs(*found->number()) > kLargestWeight) {
      throw Failure(DS_ERR_FAIL_READ_PROTOBUF, "the calibration of its confidences is damaged");
    }
    return *found->number();
  };
  return {weight("bias"), weight("agreement"), weight("clarity")};
}

}  // namespace

Calibrations read_calibrations(const FrozenGraph& graph) {
  if (!graph.has(kNode)) return {};
  const std::optional<Json> told = Json::parse(graph.text(kNode));
  const auto of = [&](const char* name) { return parse(told ? told->find(name) : nullptr); };
  return {of("acoustic"), of("language_model")};
}

}  // namespace speech
