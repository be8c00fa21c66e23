// Results as C has them: memory that belongs to the caller until it is given back.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "c_api/deepspeech.h"
#include "c_api/recognition/hypotheses.h"
#include "c_api/recognition/words.h"

namespace speech {

// The texts and metadata that callers have. Threads may share one.
class Results {
 public:
  char* add(const std::string& text);
  Metadata* add(const std::vector<Hypothesis>& hypotheses, double step_seconds);
  DS_Transcripts* add(const std::vector<Transcript>& transcripts);

  // Frees what was added; nothing for NULL. Throws Failure for anything else, and for what was freed before.
  void free(char* text);
  void free(Metadata* metadata);
  void free(DS_Transcripts* transcripts);

 private:
  std::mutex changing_;
  std::unordered_set<char*> texts_;
  std::unordered_set<Metadata*> metadata_;
  std::unordered_set<DS_Transcripts*> transcripts_;
};

}  // namespace speech
