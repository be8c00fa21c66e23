#include "language_model/scorer.h"

#include "language_model/mapped_file.h"
#include "language_model/trie_file.h"
#include "shared/error.h"

namespace ctc {
namespace {

// A package may have words that its language model does not know; if most are such, it was made for other labels.
constexpr std::size_t kWordsPerKnownWord = 2;

}  // namespace

Scorer::Scorer(const Labels& labels, const std::string& language_model_path, Unit unit, Spell spell)
    : labels_(labels),
      language_model_(language_model_path, LanguageModel::Vocabulary::kLoad),
      unit_(unit),
      spell_(std::move(spell)),
      trie_(load_trie()) {}

Scorer::Scorer(const Labels& labels, const std::string& language_model_path, const std::string& trie_path, Spell spell)
    : labels_(labels),
      language_model_(language_model_path, LanguageModel::Vocabulary::kSkip),
      unit_(Unit::kWord),
      spell_(std::move(spell)),
      trie_(read_trie_file(trie_path, labels_, language_model_, unit_)) {}

LexiconTrie Scorer::load_trie() {
  const std::string& path = language_model_.path();
  const std::vector<std::string>& words = language_model_.words();
  if (!words.empty()) return build_trie(labels_, language_model_, unit_, spell_, words);
  try {
    const std::size_t most_words = kWordsPerKnownWord * language_model_.size();
    auto trailer = read_package_trailer(MappedFile(path), language_model_.binary_size(), labels_, most_words);
    if (trailer) {
      unit_ = trailer->unit;
      package_defaults_ = trailer->defaults;
      return trie_of_package(std::move(*trailer));
    }
  } catch (const Error& error) {
    throw Error(path + " cannot be used as a scorer package: " + error.what());
  }
  throw Error(path + " has no vocabulary; build the binary without the option -v, or give the trie file of its words");
}

LexiconTrie Scorer::trie_of_package(PackageTrailer trailer) const {
  std::vector<std::string> words;
  std::size_t known = 0;
  for (const Spelling& spelling : trailer.words) {
    words.push_back(spelled_word(labels_, unit_, spelling));
    if (language_model_.index(words.back()) != 0) ++known;
  }
  if (kWordsPerKnownWord * known < words.size()) {
    throw Error("it has " + std::to_string(words.size()) + " words, but its language model knows " +
                std::to_string(known) + " of them as these labels spell them; it was made for another alphabet");
  }
  if (unit_ == Unit::kWord) return build_trie(labels_, language_model_, unit_, std::move(trailer.words));
  return build_trie(labels_, language_model_, unit_, nullptr, words);
}

}  // namespace ctc
