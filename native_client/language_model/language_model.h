// A KenLM n-gram model in any of KenLM's data structures.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "language_model/files.h"
#include "lm/model.hh"
#include "util/exception.hh"

namespace ctc {

// The last words of a hypothesis, as far as the next word's probability depends on them.
using LanguageState = lm::ngram::State;
using Word = lm::WordIndex;

class LanguageModel {
 public:
  // One of KenLM's model classes; code that scores often is compiled for each, so that no call is virtual.
  using Model = std::variant<
      std::unique_ptr<const lm::ngram::ProbingModel>, std::unique_ptr<const lm::ngram::RestProbingModel>,
      std::unique_ptr<const lm::ngram::TrieModel>, std::unique_ptr<const lm::ngram::QuantTrieModel>,
      std::unique_ptr<const lm::ngram::ArrayTrieModel>, std::unique_ptr<const lm::ngram::QuantArrayTrieModel>>;

  enum class Vocabulary { kLoad, kSkip };

  // Loads an ARPA file or a KenLM binary. If `vocabulary` says so, loads its words, too, unless a binary has none.
  // Throws Error naming the file and what is wrong with it.
  LanguageModel(const std::string& path, Vocabulary vocabulary);

  const std::string& path() const { return path_; }

  // The file of a KenLM binary; null for an ARPA file, and after `close_file`.
  const FileContent* file() const { return file_.get(); }

  // Releases the file, which the model itself no longer needs.
  void close_file() { file_.reset(); }

  // The size of a KenLM binary in bytes, without the data after the model in its file; 0 for an ARPA file.
  std::size_t binary_size() const { return binary_size_; }

  const Model& model() const { return model_; }

  // All words, each at its index; the first is "<unk>". Empty if they were not loaded.
  const std::vector<std::string>& words() const { return words_; }

  // The index of the word, or 0 (that of "<unk>") if the model does not know it.
  Word index(const std::string& word) const;

  // One more than the highest index.
  Word size() const { return size_; }

  Word sentence_end() const { return sentence_end_; }
  bool is_special(Word word) const { return word == 0 || word == sentence_begin_ || word == sentence_end_; }

  LanguageState sentence_begin_state() const;

  // ln P(word | state); `next` becomes the state after the word, and must not be `state`.
  float score(const LanguageState& state, Word word, LanguageState& next) const;

  // ln P(word) without any context.
  float unigram_score(Word word) const;

 private:
  void check_vocabulary() const;

  std::string path_;
  std::unique_ptr<const FileContent> file_;
  std::size_t binary_size_ = 0;
  Model model_;
  std::vector<std::string> words_;
  Word size_ = 0;
  Word sentence_begin_ = 0;
  Word sentence_end_ = 0;
};

// The message of a KenLM exception, without the place in its source. The exception must not be used afterwards.
std::string kenlm_reason(util::Exception& error);

}  // namespace ctc
