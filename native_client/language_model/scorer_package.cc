#include "language_model/scorer_package.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "language_model/acceptor.h"
#include "language_model/kenlm_binary.h"
#include "lm/model.hh"
#include "shared/error.h"

namespace ctc {
namespace {

constexpr std::int32_t kMagic = 0x54524945;
constexpr std::int32_t kVersion = 6;
constexpr std::int32_t kOldVersion = 5;  // otherwise the same

#pragma pack(push, 1)
struct Header {
  std::int32_t magic;
  std::int32_t version;
  std::uint8_t of_characters;
  PackageDefaults defaults;
};
#pragma pack(pop)
static_assert(sizeof(Header) == 25);

// The symbols of bytes are the bytes; those of other labels are the labels plus 1, as 0 has another meaning.
std::vector<Symbol> symbols_of(const Spelling& spelling, const Labels& labels, Unit unit) {
  std::vector<Symbol> symbols;
  for (const Label label : spelling) {
    if (unit == Unit::kCharacter) {
      for (const char byte : labels.text(label)) symbols.push_back(static_cast<unsigned char>(byte));
    } else {
      symbols.push_back(label + 1);
    }
  }
  if (unit == Unit::kWord && !labels.spell_beginnings()) symbols.push_back(labels.delimiter() + 1);
  return symbols;
}

Spelling spelling_of(std::vector<Symbol> symbols, const Labels& labels, Unit unit) {
  if (unit == Unit::kCharacter) {
    std::string text;
    for (const Symbol symbol : symbols) text.push_back(static_cast<char>(symbol));
    std::vector<Spelling> spellings = labels.spell(text);
    return spellings.empty() ? Spelling{} : std::move(spellings.front());
  }
  if (!labels.spell_beginnings()) {
    if (symbols.back() != labels.delimiter() + 1) throw Error("its words do not end with the space of these labels");
    symbols.pop_back();
  }
  Spelling spelling;
  for (const Symbol symbol : symbols) {
    if (symbol > labels.size()) throw Error("its words have labels that do not exist; it is of another alphabet");
    spelling.push_back(symbol - 1);
  }
  return spelling;
}

}  // namespace

std::optional<PackageTrailer> read_package_trailer(const FileContent& file, std::size_t language_model_size,
                                                   const Labels& labels, std::size_t most_words) {
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
  PackageTrailer trailer{header.of_characters ? Unit::kCharacter : Unit::kWord, defaults, {}, 0};
  for (std::vector<Symbol>& word : read_acceptor(file, language_model_size + sizeof(Header), most_words)) {
    if (word.empty()) throw Error("its words are damaged: one is empty");
    Spelling spelling = spelling_of(std::move(word), labels, trailer.unit);
    if (spelling.empty()) {
      ++trailer.unspelled;
    } else {
      trailer.words.push_back(std::move(spelling));
    }
  }
  return trailer;
}

namespace {

// Deletes a temporary file.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() { std::remove(path.c_str()); }
};

void convert_arpa(const std::string& arpa_path, const std::string& binary_path) {
  lm::ngram::Config config;
  config.show_progress = false;
  config.messages = nullptr;
  config.sentence_marker_missing = lm::SILENT;
  config.include_vocab = false;
  config.write_mmap = binary_path.c_str();
  try {
    const lm::ngram::TrieModel model(arpa_path.c_str(), config);
  } catch (util::Exception& error) {
    throw Error(arpa_path + " cannot be made a KenLM binary: " + kenlm_reason(error));
  }
}

void write_words(NewFile& file, const LexiconTrie& trie, const Labels& labels, Unit unit) {
  std::vector<std::vector<Symbol>> words;
  for (const LexiconEntry& entry : trie.entries()) words.push_back(symbols_of(entry.spelling, labels, unit));
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());  // a character may have several readings
  write_acceptor(file, words);
}

}  // namespace

void write_package(const std::string& path, const std::string& language_model_path, const LexiconTrie& trie,
                   const Labels& labels, Unit unit, const PackageDefaults& defaults) {
  if (!std::isfinite(defaults.lm_weight) || !std::isfinite(defaults.valid_word_count_weight)) {
    throw Error(path + " is not written, as its weights must be finite numbers");
  }
  NewFile file(path);
  const TemporaryFile binary{path + ".binary.partial"};
  const bool is_binary = is_kenlm_binary(read_head(language_model_path, kHasVocabularyOffset));
  if (!is_binary) convert_arpa(language_model_path, binary.path);
  const FileContent language_model(is_binary ? language_model_path : binary.path);
  const std::size_t size = check_kenlm_binary(language_model);
  const char has_no_vocabulary = 0;
  file.write(language_model.data(), kHasVocabularyOffset);
  file.write(&has_no_vocabulary, 1);
  file.write(language_model.data() + kHasVocabularyOffset + 1, size - kHasVocabularyOffset - 1);
  const Header header{kMagic, kVersion, unit == Unit::kCharacter, defaults};
  file.write(&header, sizeof(header));
  write_words(file, trie, labels, unit);
  file.finish();
}

}  // namespace ctc
