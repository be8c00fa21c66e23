#include "scorer_package.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "acceptor.h"
#include "error.h"
#include "kenlm_binary.h"

namespace ctc {
namespace {

constexpr std::int32_t kMagic = 0x54524945;
constexpr std::int32_t kVersion = 6;
constexpr std::int32_t kOldVersion = 5;  // without another difference

#pragma pack(push, 1)
struct Header {
  std::int32_t magic;
  std::int32_t version;
  std::uint8_t of_characters;
  PackageDefaults defaults;
};
#pragma pack(pop)
static_assert(sizeof(Header) == 25);

// More words than any language model has.
constexpr std::size_t kMostWords = 100000000;

// Symbols of bytes are the bytes; of other labels, the labels plus 1, as 0 is taken.
std::vector<Symbol> symbols_of(const std::vector<Label>& spelling, const Labels& labels, Unit unit) {
  std::vector<Symbol> symbols;
  for (const Label label : spelling) {
    if (unit == Unit::kCharacter) {
      for (const char byte : labels.text(label)) symbols.push_back(static_cast<unsigned char>(byte));
    } else {
      symbols.push_back(label + 1);
    }
  }
  if (unit == Unit::kWord) symbols.push_back(labels.delimiter() + 1);
  return symbols;
}

std::vector<Label> spelling_of(std::vector<Symbol> symbols, const Labels& labels, Unit unit) {
  std::vector<Label> spelling;
  if (unit == Unit::kCharacter) {
    std::string text;
    for (const Symbol symbol : symbols) text.push_back(static_cast<char>(symbol));
    if (!labels.spell(text, spelling)) spelling.clear();
    return spelling;
  }
  if (symbols.back() != labels.delimiter() + 1) throw Error("its words do not end with the space of these labels");
  symbols.pop_back();
  for (const Symbol symbol : symbols) {
    if (symbol > labels.size()) throw Error("its words have labels that do not exist; it was made for another alphabet");
    spelling.push_back(symbol - 1);
  }
  return spelling;
}

}  // namespace

std::optional<PackageTrailer> read_package_trailer(const MappedFile& file, std::size_t language_model_size,
                                                   const Labels& labels) {
  if (file.size() - language_model_size < sizeof(Header)) return std::nullopt;
  Header header;
  std::memcpy(&header, file.data() + language_model_size, sizeof(header));
  if (header.magic != kMagic) return std::nullopt;
  if (header.version != kVersion && header.version != kOldVersion) {
    throw Error("it is a scorer package of version " + std::to_string(header.version) + ", but 5 or 6 is wanted");
  }
  const PackageDefaults defaults = header.defaults;
  if (header.of_characters > 1 || !std::isfinite(defaults.lm_weight) ||
      !std::isfinite(defaults.valid_word_count_weight)) {
    throw Error("its scorer package's header is damaged");
  }
  PackageTrailer trailer{header.of_characters ? Unit::kCharacter : Unit::kWord, defaults, {}};
  const std::size_t most_words = std::min(kMostWords, language_model_size);
  for (std::vector<Symbol>& word : read_acceptor(file, language_model_size + sizeof(Header), most_words)) {
    if (word.empty()) throw Error("its words are damaged: one is empty");
    std::vector<Label> spelling = spelling_of(std::move(word), labels, trailer.unit);
    if (!spelling.empty()) trailer.words.push_back(std::move(spelling));
  }
  return trailer;
}

void write_package(const std::string& path, const std::string& language_model_path, const LexiconTrie& trie,
                   const Labels& labels, Unit unit, const PackageDefaults& defaults) {
  const MappedFile language_model(language_model_path);
  const std::size_t size = check_kenlm_binary(language_model);
  if (size == 0) throw Error(language_model_path + " is no KenLM binary; make one of it with KenLM's build_binary");
  std::vector<std::vector<Symbol>> words;
  for (const LexiconEntry& entry : trie.entries()) words.push_back(symbols_of(entry.spelling, labels, unit));
  std::sort(words.begin(), words.end());

  NewFile file(path);
  const char has_no_vocabulary = 0;
  file.write(language_model.data(), kHasVocabularyOffset);
  file.write(&has_no_vocabulary, 1);
  file.write(language_model.data() + kHasVocabularyOffset + 1, size - kHasVocabularyOffset - 1);
  const Header header{kMagic, kVersion, unit == Unit::kCharacter, defaults};
  file.write(&header, sizeof(header));
  write_acceptor(file, words);
  file.finish();
}

}  // namespace ctc
