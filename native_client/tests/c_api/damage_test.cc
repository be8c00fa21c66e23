// Models that are damaged, or of unsupported kinds, are refused with a reason.
#include "tests/c_api/loaded.h"
#include "tests/testing.h"

namespace {

using namespace loaded;

TEST(models_of_other_kinds_are_refused_with_a_reason) {
  const std::string graph = graphs::tiny_model();
  const auto refused = [](const std::string& other, int code, const std::string& part) {
    const Loaded loaded(other);
    CHECK(loaded.code == code && !loaded.model);
    CHECK(last_message_has(part) && last_message_has(loaded.path));
  };
  refused(graph + graphs::text("metadata_output_unit", "pinyin"), DS_ERR_MODEL_INCOMPATIBLE, "pinyin");
  refused(graph + graphs::integer("metadata_version", 9), DS_ERR_MODEL_INCOMPATIBLE, "metadata_version is 9");
  refused(graph + graphs::integer("metadata_sample_rate", 0), DS_ERR_MODEL_INCOMPATIBLE, "metadata_sample_rate is 0");
  refused(graph + graphs::alphabet({" ", "a"}), DS_ERR_INVALID_SHAPE, "2 labels, but the network has 4 outputs");
  refused(graph + graphs::alphabet({"a", "a", "b"}), DS_ERR_INVALID_ALPHABET, "are both 'a'");
  refused(graph + graphs::alphabet({"a", "b", {'c', '\0'}}), DS_ERR_INVALID_ALPHABET, "label 2 has a NUL byte");
  refused(graph + graphs::text("metadata_alphabet", "xyz"), DS_ERR_INVALID_ALPHABET, "truncated");
  refused(graph + graphs::floats("layer_5/bias", {1ull << 60}, {}), DS_ERR_FAIL_READ_PROTOBUF, "impossible shape");
  refused(graph + graphs::floats("layer_5/bias", {1000}, {1}), DS_ERR_FAIL_READ_PROTOBUF, "truncated");
  refused(graph + graphs::floats("layer_5/bias", {21}, std::vector<float>(21)), DS_ERR_INVALID_SHAPE, "do not fit");
  refused(graph + graphs::floats("layer_6/bias", {4}, {1, 2, 3, NAN}), DS_ERR_FAIL_READ_PROTOBUF, "not finite");
  refused("", DS_ERR_FAIL_READ_PROTOBUF, "is empty");
  refused("not a graph", DS_ERR_FAIL_READ_PROTOBUF, "protocol buffer");
  ModelState* model = nullptr;
  CHECK(DS_CreateModel("/nowhere/graph.pb", &model) == DS_ERR_FAIL_INIT_MMAP && last_message_has("/nowhere/graph.pb"));
  CHECK(DS_CreateModel("/dev/null", &model) == DS_ERR_FAIL_INIT_MMAP && DS_CreateModel("/", &model) != DS_ERR_OK);
}

TEST(a_memory_mapped_graph_is_the_same_model) {
  const std::string graph = graphs::tiny_model();
  const std::vector<float> bias = {0.5f, 2, -1, 1};
  const Loaded plain(graph + graphs::floats("layer_6/bias", {4}, bias));
  const Loaded mapped(graphs::memory_mapped(graph, "layer_6/bias", 4, bias));
  CHECK(plain.code == DS_ERR_OK && mapped.code == DS_ERR_OK);
  const std::vector<short> samples = noise(16000);
  const std::string text = taken(DS_SpeechToText(plain.model, samples.data(), size_of(samples)));
  CHECK(!text.empty() && taken(DS_SpeechToText(mapped.model, samples.data(), size_of(samples))) == text);
  CHECK(Loaded(graphs::memory_mapped(graph, "layer_6/bias", 5, bias)).code != DS_ERR_OK);
}

TEST(damaged_models_are_refused_or_run) {
  const std::string plain = graphs::tiny_model();
  const std::string mapped = graphs::memory_mapped(plain, "layer_6/bias", 4, {1, 2, 3, 4});
  const std::vector<short> samples = noise(1000);
  fixtures::Random random(11);
  for (int turn = 0; turn < 600; ++turn) {
    const std::string& graph = turn % 5 ? plain : mapped;
    std::string damaged = turn % 3 ? graph : graph.substr(0, random() % graph.size());
    for (int change = turn % 3; change > 0 && !damaged.empty(); --change) {
      // Most of the bytes are weights; damage to their descriptions tests more.
      std::size_t place = random() % damaged.size();
      if (turn % 2) place = damaged.find("layer", place) + random() % 40;
      damaged[std::min(place, damaged.size() - 1)] = static_cast<char>(random());
    }
    const Loaded loaded(damaged);
    CHECK((loaded.code == DS_ERR_OK) == (loaded.model != nullptr));
    CHECK(loaded.model || last_message_has(loaded.path));
    if (loaded.model && turn % 8 == 0) taken(DS_SpeechToText(loaded.model, samples.data(), size_of(samples)));
  }
}

}  // namespace
