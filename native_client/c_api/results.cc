#include "c_api/results.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "c_api/failure.h"

namespace speech {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

template <class Kind>
std::unique_ptr<Kind, Free> allocate(std::size_t size) {
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  return std::unique_ptr<Kind, Free>(static_cast<Kind*>(memory));
}

[[noreturn]] void refuse(const char* what) {
  throw Failure(DS_ERR_INVALID_HANDLE, std::string(what) + " was freed before, or is not from this library");
}

// Writes into one piece of memory, from beginning to end.
class Memory {
 public:
  explicit Memory(void* begin) : next_(static_cast<char*>(begin)) {}

  // Memory for `count` objects; those with the largest alignment must come first.
  template <class Kind>
  Kind* room(std::size_t count) {
    char* const begin = next_;
    next_ += count * sizeof(Kind);
    return reinterpret_cast<Kind*>(begin);
  }

  const char* copy(const std::string& text) {
    char* const begin = room<char>(text.size() + 1);
    std::memcpy(begin, text.c_str(), text.size() + 1);
    return begin;
  }

 private:
  char* next_;
};

}  // namespace

// Uses malloc, so that a program that frees texts with free() does no harm.
char* Results::add(const std::string& text) {
  auto copy = allocate<char>(text.size() + 1);
  std::memcpy(copy.get(), text.c_str(), text.size() + 1);
  const std::lock_guard lock(changing_);
  texts_.insert(copy.get());
  return copy.release();
}

Metadata* Results::add(const std::vector<Hypothesis>& hypotheses, double step_seconds) {
  std::size_t tokens = 0, bytes = 0;
  for (const Hypothesis& hypothesis : hypotheses) {
    tokens += hypothesis.tokens.size();
    for (const Token& token : hypothesis.tokens) bytes += token.text.size() + 1;
  }
  auto metadata = allocate<Metadata>(sizeof(Metadata) + hypotheses.size() * sizeof(CandidateTranscript) +
                                     tokens * sizeof(TokenMetadata) + bytes);
  Memory memory(metadata.get());
  auto* const head = memory.room<Metadata>(1);
  auto* const candidates = memory.room<CandidateTranscript>(hypotheses.size());
  auto* next = memory.room<TokenMetadata>(tokens);
  new (head) Metadata{candidates, static_cast<unsigned>(hypotheses.size())};
  for (std::size_t place = 0; place < hypotheses.size(); ++place) {
    const Hypothesis& hypothesis = hypotheses[place];
    const auto count = static_cast<unsigned>(hypothesis.tokens.size());
    new (candidates + place) CandidateTranscript{next, count, hypothesis.score};
    for (const Token& token : hypothesis.tokens) {
      const auto start = static_cast<float>(token.frame * step_seconds);
      new (next++) TokenMetadata{memory.copy(token.text), token.frame, start};
    }
  }
  const std::lock_guard lock(changing_);
  metadata_.insert(metadata.get());
  return metadata.release();
}

DS_Transcripts* Results::add(const std::vector<Transcript>& transcripts) {
  std::size_t words = 0, bytes = 0;
  for (const Transcript& transcript : transcripts) {
    words += transcript.words.size();
    bytes += transcript.text.size() + 1;
    for (const TimedWord& word : transcript.words) bytes += word.text.size() + 1;
  }
  auto all = allocate<DS_Transcripts>(sizeof(DS_Transcripts) + transcripts.size() * sizeof(DS_Transcript) +
                                      words * sizeof(DS_Word) + bytes);
  Memory memory(all.get());
  auto* const head = memory.room<DS_Transcripts>(1);
  auto* next = memory.room<DS_Transcript>(transcripts.size());
  auto* next_word = memory.room<DS_Word>(words);
  new (head) DS_Transcripts{next, static_cast<unsigned>(transcripts.size())};
  for (const Transcript& transcript : transcripts) {
    const auto count = static_cast<unsigned>(transcript.words.size());
    new (next++) DS_Transcript{memory.copy(transcript.text), next_word, count, transcript.score};
    for (const TimedWord& word : transcript.words) {
      new (next_word++) DS_Word{memory.copy(word.text), word.start, word.end, word.confidence};
    }
  }
  const std::lock_guard lock(changing_);
  transcripts_.insert(all.get());
  return all.release();
}

void Results::free(char* text) {
  const std::lock_guard lock(changing_);
  if (text && texts_.erase(text) == 0) refuse("the text");
  std::free(text);
}

void Results::free(Metadata* metadata) {
  const std::lock_guard lock(changing_);
  if (metadata && metadata_.erase(metadata) == 0) refuse("the metadata");
  std::free(metadata);
}

void Results::free(DS_Transcripts* transcripts) {
  const std::lock_guard lock(changing_);
  if (transcripts && transcripts_.erase(transcripts) == 0) refuse("the list of transcripts");
  std::free(transcripts);
}

}  // namespace speech
