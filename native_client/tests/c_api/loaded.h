// Models of the C interface, and its messages about them.
#pragma once

#include <string>
#include <vector>

#include "c_api/deepspeech.h"
#include "tests/c_api/graphs.h"
#include "tests/testing.h"

namespace loaded {

inline std::string taken(char* text) {
  if (!text) return "NULL";
  std::string copy = text;
  DS_FreeString(text);
  return copy;
}

inline std::string last_message() { return DS_LastErrorMessage(); }

inline bool last_message_has(const std::string& part) { return last_message().find(part) != std::string::npos; }

// A file with a graph, and the model that is loaded from it, if any.
struct Loaded {
  explicit Loaded(const std::string& graph = graphs::tiny_model(), const char* precision = "float32")
      : path(folder / "graph.pb") {
    fixtures::write_file(path, graph);
    code = DS_CreateModelWithPrecision(path.c_str(), precision, &model);
  }
  ~Loaded() {
    if (model) DS_FreeModel(model);
  }

  StreamingState* stream() const {
    StreamingState* begun = nullptr;
    CHECK(DS_CreateStream(model, &begun) == DS_ERR_OK && begun);
    return begun;
  }

  fixtures::Folder folder;
  std::string path;
  ModelState* model = nullptr;
  int code;
};

inline std::vector<short> noise(std::size_t count) {
  fixtures::Random random(3);
  std::vector<short> samples(count);
  for (short& sample : samples) sample = static_cast<short>(fixtures::uniform(random, -20000, 20000));
  return samples;
}

inline unsigned size_of(const std::vector<short>& samples) { return static_cast<unsigned>(samples.size()); }

}  // namespace loaded
