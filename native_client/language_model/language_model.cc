#include "language_model/language_model.h"

#include <algorithm>
#include <cstring>

#include "language_model/kenlm_binary.h"
#include "lm/enumerate_vocab.hh"
#include "shared/error.h"
#include "shared/log_math.h"

namespace ctc {
namespace {

// The most bytes of KenLM's reason that are told, at its beginning and its end: it may quote a line of any length.
constexpr std::size_t kReasonHead = 80;
constexpr std::size_t kReasonTail = 60;
constexpr char kUnusable[] = " cannot be used as a KenLM language model (ARPA or binary): ";

// Bytes of an ARPA file that are enough for its counts.
constexpr std::size_t kHeadSize = 1 << 16;

class WordCollector : public lm::EnumerateVocab {
 public:
  explicit WordCollector(std::vector<std::string>& words) : words_(words) {}

  void Add(lm::WordIndex index, const StringPiece& text) override {
    if (index >= words_.size()) words_.resize(index + 1);
    words_[index].assign(text.data(), text.size());
  }

 private:
  std::vector<std::string>& words_;
};

LanguageModel::Model load(const std::string& path, const lm::ngram::Config& config) {
  using namespace lm::ngram;
  ModelType type = PROBING;  // for ARPA files, which do not specify a data structure
  RecognizeBinary(path.c_str(), type);
  switch (type) {
    case PROBING:
      return std::make_unique<const ProbingModel>(path.c_str(), config);
    case REST_PROBING:
      return std::make_unique<const RestProbingModel>(path.c_str(), config);
    case TRIE:
      return std::make_unique<const TrieModel>(path.c_str(), config);
    case QUANT_TRIE:
      return std::make_unique<const QuantTrieModel>(path.c_str(), config);
    case ARRAY_TRIE:
      return std::make_unique<const ArrayTrieModel>(path.c_str(), config);
    case QUANT_ARRAY_TRIE:
      return std::make_unique<const QuantArrayTrieModel>(path.c_str(), config);
  }
  throw Error("its header names a data structure that KenLM does not have");
}

// The whole message of a KenLM exception. It may hold any bytes of a file, and `what` ends at the first null, so a mark
// is added to find the real end.
std::string whole_message(util::Exception& error) {
  constexpr char kEnd[] = "<end>";
  error << kEnd;
  const char* const begin = error.what();
  const char* end = begin;
  while (std::memcmp(end, kEnd, sizeof(kEnd)) != 0) ++end;
  return {begin, end};
}

}  // namespace

LanguageModel::LanguageModel(const std::string& path, Vocabulary vocabulary) : path_(path) {
  WordCollector collector(words_);
  lm::ngram::Config config;
  config.show_progress = false;
  config.messages = nullptr;
  config.sentence_marker_missing = lm::SILENT;
  config.load_method = util::READ;  // to large pages, where searches are faster than in mapped ones
  try {
    const FileHead head = read_head(path, kHeadSize);
    if (is_kenlm_binary(head)) {
      file_ = std::make_unique<const FileContent>(path);
      binary_size_ = check_kenlm_binary(*file_);
    } else {
      check_arpa_counts(head);
    }
    const bool has_vocabulary = !file_ || file_->data()[kHasVocabularyOffset];
    if (vocabulary == Vocabulary::kLoad && has_vocabulary) config.enumerate_vocab = &collector;
    model_ = load(file_ ? file_->path_of_memory() : path, config);
  } catch (const std::bad_alloc&) {
    throw Error(path + " needs more memory than there is");
  } catch (util::Exception& error) {
    throw Error(path + kUnusable + kenlm_reason(error));
  } catch (const std::exception& error) {
    throw Error(path + kUnusable + error.what());
  }
  std::visit(
      [this](const auto& model) {
        size_ = model->GetVocabulary().Bound();
        sentence_begin_ = model->GetVocabulary().BeginSentence();
        sentence_end_ = model->GetVocabulary().EndSentence();
      },
      model_);
  check_vocabulary();
}

void LanguageModel::check_vocabulary() const {
  for (Word word = 1; word < words_.size(); ++word) {
    if (index(words_[word]) == word) continue;
    throw Error(path_ + " cannot be used as a KenLM language model: its vocabulary is damaged at word " +
                std::to_string(word));
  }
}

Word LanguageModel::index(const std::string& word) const {
  return std::visit([&](const auto& model) { return model->GetVocabulary().Index(word); }, model_);
}

LanguageState LanguageModel::sentence_begin_state() const {
  return std::visit([](const auto& model) { return model->BeginSentenceState(); }, model_);
}

float LanguageModel::score(const LanguageState& state, Word word, LanguageState& next) const {
  return kLn10 * std::visit([&](const auto& model) { return model->Score(state, word, next); }, model_);
}

float LanguageModel::unigram_score(Word word) const {
  LanguageState next;
  const auto score = [&](const auto& model) { return model->Score(model->NullContextState(), word, next); };
  return kLn10 * std::visit(score, model_);
}

// KenLM's messages begin with a place in its source, which takes the first line; more lines may follow.
std::string kenlm_reason(util::Exception& error) {
  std::string text = whole_message(error);
  const std::size_t place = text.find(" threw ");
  if (place != std::string::npos) {
    const std::size_t end = std::min(text.find('\n', place), text.find(". ", place));
    if (end != std::string::npos) text.erase(0, end + 1);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::size_t start = text.find_first_not_of(' ');
  if (start == std::string::npos) return "no reason given";
  text.erase(0, start);
  if (text.size() > kReasonHead + kReasonTail) {
    text.replace(kReasonHead, text.size() - kReasonHead - kReasonTail, " ... ");
  }
  return text;
}

}  // namespace ctc
