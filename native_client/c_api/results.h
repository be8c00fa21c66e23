// Results for C: memory that belongs to the caller until it is freed.
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

// The texts and metadata that callers hold. Threads may share one.
class Results {
 public:
  char* add(const std::string& text);
  Metadata* add(const std::vector<Hypothesis>& hypotheses, double step_seconds);
  DS_Transcripts* add(const std::vector<Transcript>& transcripts);

  // Free a result; do nothing for NULL. Throw Failure for anything else, and for a result that was freed before.
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
