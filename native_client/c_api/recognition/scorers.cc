#include "c_api/recognition/scorers.h"

#include <algorithm>
#include <string_view>

#include "c_api/recognition/scripts.h"
#include "shared/error.h"
#include "shared/utf8.h"

namespace speech {
namespace {

bool is_special(const std::string& word) {
  return word == "<unk>" || word == "<UNK>" || word == "<s>" || word == "</s>";
}

bool is_several_characters(const std::string& text) {
  std::string_view left = text;
  if (!shared::is_utf8(text)) return false;
  shared::take_character(left);
  return !left.empty();
}

// Throws ctc::Error if a language model of characters could write few of the labels: pieces of words, and letters that
// are one label with their marks.
void check_labels_are_characters(const ctc::Labels& labels, const std::string& path) {
  if (labels.spell_beginnings()) {
    throw ctc::Error(path + ": is of characters, but word pieces need a language model of words; build one");
  }
  const auto& texts = labels.texts();
  const auto joined = std::count_if(texts.begin(), texts.end(), is_several_characters);
  if (2 * static_cast<std::size_t>(joined) <= texts.size()) return;
  throw ctc::Error(path + ": most labels of the alphabet are several characters, as '" +
                   *std::find_if(texts.begin(), texts.end(), is_several_characters) +
                   "', which a language model of characters cannot write; build one of words, or make the alphabet " +
                   "without --join_marks");
}

std::shared_ptr<const ctc::Scorer> load_any(const ctc::Labels& labels, const std::string& path) {
  try {
    auto scorer = std::make_shared<const ctc::Scorer>(labels, path, ctc::Unit::kWord);
    if (!is_of_characters(scorer->language_model().words(), labels)) return scorer;
  } catch (const ctc::Error&) {  // its characters may be none of the alphabet's words
    if (!is_of_characters(ctc::LanguageModel(path, ctc::LanguageModel::Vocabulary::kLoad).words(), labels)) throw;
  }
  check_labels_are_characters(labels, path);
  return std::make_shared<const ctc::Scorer>(labels, path, ctc::Unit::kCharacter);
}

}  // namespace

std::shared_ptr<const ctc::Scorer> load_scorer(const ctc::Labels& labels, const std::string& path) {
  auto scorer = load_any(labels, path);
  if (scorer->unit() == ctc::Unit::kCharacter) check_labels_are_characters(labels, path);  // as packages say themselves
  return scorer;
}

bool is_of_characters(const std::vector<std::string>& vocabulary, const ctc::Labels& labels) {
  bool has_space = false;
  std::size_t letters = 0, unspaced = 0;
  for (const std::string& word : vocabulary) {
    has_space = has_space || word == "<space>";
    if (word == "<space>" || is_special(word)) continue;
    std::string_view left = word;
    if (!shared::is_utf8(word) || word.empty()) return false;
    const char32_t code = shared::take_character(left);
    if (!left.empty()) return false;
    ++letters;
    unspaced += written_without_spaces(code);
  }
  const auto& texts = labels.texts();
  const bool parted = labels.part_words() && std::all_of(texts.begin(), texts.end(), shared::is_utf8);  // not bytes
  return letters > 0 && (has_space || !parted || 2 * unspaced > letters);
}

}  // namespace speech
