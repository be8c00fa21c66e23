#include "c_api/graph/feature_settings.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "c_api/failure.h"
#include "c_api/graph/json.h"

namespace speech {
namespace {

constexpr std::int64_t kLowestRate = 1000, kHighestRate = 1000000;
constexpr std::int64_t kLongestWindow = 1 << 15;  // samples
constexpr std::int64_t kMostCoefficients = 1 << 10;
constexpr std::int64_t kLargestSetting = 1 << 20;
constexpr std::int64_t kWindowMs = 32, kStepMs = 20, kRate = 16000;

const std::map<std::string, NormalizationKind> kNormalizations = {
    {"none", NormalizationKind::kNone},
    {"global", NormalizationKind::kGlobal},
    {"running", NormalizationKind::kRunning},
    {"utterance", NormalizationKind::kUtterance},
};

[[noreturn]] void refuse(int code, const std::string& why) { throw Failure(code, why); }

[[noreturn]] void refuse_kind() { refuse(DS_ERR_FAIL_READ_PROTOBUF, "its features are not described in JSON"); }

// The numbers and texts of settings, with defaults for those that a graph may leave out.
struct Settings {
  std::map<std::string, std::int64_t> numbers;
  std::map<std::string, std::string> texts;
};

Settings parse_settings(const Json& options) {
  Settings settings;
  settings.numbers = {{"sample_rate", kRate}, {"window_ms", 0},    {"step_ms", 0},
                      {"coefficients", 0},    {"stack_frames", 1}, {"skip_frames", 0}};
  settings.texts = {{"feature_type", "audio_ops"}, {"normalization", "none"}};
  if (!options.is_object()) refuse_kind();
  for (const std::string& name : options.names()) {
    const Json& value = *options.find(name);
    if (value.text() && settings.texts.count(name)) {
      settings.texts[name] = *value.text();
    } else if (value.is_integer() && settings.numbers.count(name)) {
      if (*value.number() < 1 || *value.number() > static_cast<double>(kLargestSetting)) {
        refuse(DS_ERR_INVALID_SHAPE, "its features cannot be computed: " + name + " is not a number in its range");
      }
      settings.numbers[name] = static_cast<std::int64_t>(*value.number());
    } else {
      refuse_kind();
    }
  }
  return settings;
}

void fill_in(Settings& settings) {
  const std::string& type = settings.texts["feature_type"];
  std::map<std::string, std::int64_t> own;
  if (type == "audio_ops") {
    own = {{"window_ms", 32}, {"step_ms", 20}, {"coefficients", 26}};
  } else if (type == "fbank") {
    own = {{"window_ms", 25}, {"step_ms", 10}, {"coefficients", 80}};
  } else {
    refuse(DS_ERR_MODEL_INCOMPATIBLE,
           "has features of " + type + ", which this library does not compute; it computes those of audio_ops and fbank");
  }
  own["skip_frames"] = settings.numbers["stack_frames"];
  for (const auto& [name, value] : own) {
    if (settings.numbers[name] == 0) settings.numbers[name] = value;
  }
}

std::vector<float> parse_statistics(const Json& described, const char* name, std::size_t coefficients) {
  const Json* const all = described.find("statistics");
  const Json* const found = all ? all->find(name) : nullptr;
  if (!found || !found->array() || found->array()->size() != coefficients) {
    refuse(DS_ERR_INVALID_SHAPE, "the statistics of its features are damaged");
  }
  std::vector<float> values;
  for (const Json& value : *found->array()) {
    values.push_back(value.number() ? static_cast<float>(*value.number()) : NAN);
    if (!std::isfinite(values.back())) refuse(DS_ERR_INVALID_SHAPE, "the statistics of its features are damaged");
  }
  return values;
}

// The samples in a number of milliseconds. For `fbank`, computed with floats, as in kaldi-native-fbank.
std::size_t samples_of(FrontEndKind front_end, std::int64_t rate, std::int64_t ms) {
  if (front_end == FrontEndKind::kAudioOps) return static_cast<std::size_t>(rate * ms / 1000);
  return static_cast<std::size_t>(static_cast<float>(rate) * 0.001f * static_cast<float>(ms));
}

FeatureSettings checked(Settings& told) {
  const auto number = [&](const char* name) { return told.numbers.at(name); };
  const std::int64_t rate = number("sample_rate"), window_ms = number("window_ms"), step_ms = number("step_ms");
  if (rate < kLowestRate || rate > kHighestRate) {
    refuse(DS_ERR_MODEL_INCOMPATIBLE, "its sample rate is " + std::to_string(rate) + " Hz, not one from " +
                                          std::to_string(kLowestRate) + " to " + std::to_string(kHighestRate));
  }
  const std::int64_t window = rate * window_ms / 1000, step = rate * step_ms / 1000;
  if (rate * window_ms % 1000 != 0 || rate * step_ms % 1000 != 0 || window > kLongestWindow || step > window) {
    refuse(DS_ERR_INVALID_SHAPE, "its features have windows of " + std::to_string(window_ms) + " ms every " +
                                     std::to_string(step_ms) + " ms at " + std::to_string(rate) + " Hz");
  }
  if (number("coefficients") > kMostCoefficients) {
    refuse(DS_ERR_INVALID_SHAPE, "its features have " + std::to_string(number("coefficients")) + " coefficients");
  }
  const auto normalization = kNormalizations.find(told.texts["normalization"]);
  if (normalization == kNormalizations.end()) {
    refuse(DS_ERR_MODEL_INCOMPATIBLE, "its features have the unknown normalization " + told.texts["normalization"]);
  }
  const auto size = [&](const char* name) { return static_cast<std::size_t>(number(name)); };
  FeatureSettings settings{};
  settings.front_end = told.texts["feature_type"] == "fbank" ? FrontEndKind::kFbank : FrontEndKind::kAudioOps;
  settings.sample_rate = size("sample_rate");
  settings.window = samples_of(settings.front_end, rate, window_ms);
  settings.step = samples_of(settings.front_end, rate, step_ms);
  settings.coefficients = size("coefficients");
  settings.normalization = normalization->second;
  settings.stack_frames = size("stack_frames");
  settings.skip_frames = size("skip_frames");
  settings.step_seconds = static_cast<double>(number("skip_frames") * step_ms) / 1000;
  return settings;
}

FeatureSettings described_features(const FrozenGraph& graph) {
  const std::optional<Json> described = Json::parse(graph.text("metadata_features"));
  const Json* const options = described ? described->find("options") : nullptr;
  if (!options) refuse_kind();
  Settings told = parse_settings(*options);
  fill_in(told);
  FeatureSettings settings = checked(told);
  if (settings.normalization == NormalizationKind::kNone) return settings;
  settings.mean = parse_statistics(*described, "mean", settings.coefficients);
  settings.deviation = parse_statistics(*described, "deviation", settings.coefficients);
  for (const float deviation : settings.deviation) {
    if (deviation <= 0) refuse(DS_ERR_INVALID_SHAPE, "the statistics of its features are damaged");
  }
  return settings;
}

}  // namespace

FeatureSettings read_features(const FrozenGraph& graph, std::int64_t width) {
  if (graph.has("metadata_features")) {
    FeatureSettings settings = described_features(graph);
    if (settings.width() != static_cast<std::size_t>(width)) {
      refuse(DS_ERR_INVALID_SHAPE, "its input_node takes frames of " + std::to_string(width) + " numbers, but its " +
                                       "features have " + std::to_string(settings.width()));
    }
    return settings;
  }
  Settings told;
  told.texts = {{"feature_type", "audio_ops"}, {"normalization", "none"}};
  told.numbers = {{"sample_rate", graph.integer("metadata_sample_rate", kRate, kLowestRate, kHighestRate)},
                  {"window_ms", graph.integer("metadata_feature_win_len", kWindowMs, 1, kLongestWindow)},
                  {"step_ms", graph.integer("metadata_feature_win_step", kStepMs, 1, kLongestWindow)},
                  {"coefficients", width},
                  {"stack_frames", 1},
                  {"skip_frames", 1}};
  return checked(told);
}

}  // namespace speech
