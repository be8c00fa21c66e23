#include "language_model/kenlm_binary.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "lm/model.hh"
#include "shared/error.h"

namespace ctc {
namespace {

using lm::ngram::Config;
namespace trie = lm::ngram::trie;

constexpr char kMagic[] = "mmap lm http://kheafield.com/code format version";

// The header: 88 bytes that are the same in all files, these parameters, and the n-gram counts.
constexpr std::size_t kParametersOffset = 88;
struct Parameters {
  std::uint8_t order;
  float probing_multiplier;
  std::uint32_t model_type;
  std::uint8_t has_vocabulary;
  std::uint32_t search_version;
};
static_assert(kParametersOffset + offsetof(Parameters, has_vocabulary) == kHasVocabularyOffset);

void require(bool holds, const char* message) {
  if (!holds) throw Error(std::string("it is damaged or truncated: ") + message);
}

// Checks the parts of the file one by one.
class Checker {
 public:
  explicit Checker(const FileContent& file) : file_(file) {}

  std::size_t check() {
    read_header();
    switch (type_) {
      case lm::ngram::PROBING:
        check_probing<lm::ngram::BackoffValue>();
        break;
      case lm::ngram::REST_PROBING:
        check_probing<lm::ngram::RestValue>();
        break;
      case lm::ngram::TRIE:
        check_trie<lm::ngram::DontQuantize, trie::DontBhiksha>();
        break;
      case lm::ngram::QUANT_TRIE:
        check_trie<lm::ngram::SeparatelyQuantize, trie::DontBhiksha>();
        break;
      case lm::ngram::ARRAY_TRIE:
        check_trie<lm::ngram::DontQuantize, trie::ArrayBhiksha>();
        break;
      case lm::ngram::QUANT_ARRAY_TRIE:
        check_trie<lm::ngram::SeparatelyQuantize, trie::ArrayBhiksha>();
        break;
    }
    return offset_;
  }

 private:
  void read_header() {
    require(file_.size() >= kParametersOffset + sizeof(Parameters), "the header is missing");
    Parameters parameters;
    std::memcpy(&parameters, file_.data() + kParametersOffset, sizeof(parameters));
    const std::size_t order = parameters.order;
    require(order >= 2 && order <= KENLM_MAX_ORDER, "its order is not between 2 and 6");
    require(parameters.model_type <= lm::ngram::QUANT_ARRAY_TRIE, "it has an unknown data structure");
    const float multiplier = parameters.probing_multiplier;
    require(multiplier >= 1 && multiplier <= 100, "its hash tables have an absurd size");
    type_ = static_cast<lm::ngram::ModelType>(parameters.model_type);
    config_.probing_multiplier = multiplier;
    offset_ = kParametersOffset + sizeof(Parameters);
    counts_.resize(order);
    std::memcpy(counts_.data(), take(order * sizeof(std::uint64_t)), order * sizeof(std::uint64_t));
    // An n-gram takes at least a few bits.
    for (const std::uint64_t count : counts_) require(count < 8 * file_.size(), "it has more n-grams than bits");
    require(counts_[0] > 0, "it has no words");
    offset_ = (offset_ + 7) / 8 * 8;
  }

  // Returns the next part of the file.
  const char* take(std::uint64_t size) {
    require(offset_ <= file_.size() && size <= file_.size() - offset_, "it ends too soon");
    const char* const part = file_.data() + offset_;
    offset_ += size;
    return part;
  }

  // An array of records at any address, aligned or not.
  template <class Record>
  static Record record(const char* part, std::uint64_t index) {
    Record record;
    std::memcpy(&record, part + index * sizeof(Record), sizeof(Record));
    return record;
  }

  template <class Entry>
  void check_hash_table(std::uint64_t entries) {
    using Table = util::ProbingHashTable<Entry, util::IdentityHash>;
    const std::uint64_t size = Table::Size(entries, config_.probing_multiplier);
    const char* const table = take(size);
    bool has_empty = false;
    for (std::uint64_t bucket = 0; bucket < size / sizeof(Entry); ++bucket) {
      const auto entry = record<Entry>(table, bucket);
      has_empty = has_empty || entry.key == 0;
      if constexpr (std::is_same_v<Entry, lm::ngram::ProbingVocabularyEntry>) {
        require(entry.key == 0 || entry.value < words_, "a word has an index out of range");
      } else {
        require(entry.key == 0 || !std::isnan(entry.value.prob), "a probability is not a number");
      }
    }
    require(has_empty, "a hash table is full");
  }

  template <class Value>
  void check_probing() {
    struct Header {
      std::uint32_t version, words;
    };
    words_ = record<Header>(take(sizeof(Header)), 0).words;
    require(words_ >= 1 && words_ <= counts_[0] + 1, "its number of words does not fit its number of unigrams");
    check_hash_table<lm::ngram::ProbingVocabularyEntry>(counts_[0]);
    using Weights = typename Value::Weights;
    const char* const unigrams = take((counts_[0] + 1) * sizeof(Weights));
    for (std::uint64_t word = 0; word < words_; ++word) {
      require(!std::isnan(record<Weights>(unigrams, word).prob), "a probability is not a number");
    }
    for (std::size_t order = 2; order < counts_.size(); ++order) {
      check_hash_table<typename Value::ProbingEntry>(counts_[order - 1]);
    }
    check_hash_table<lm::ngram::detail::ProbEntry>(counts_.back());
  }

  template <class Quantization, class Pointers>
  void check_trie() {
    const char* const vocabulary = take((1 + counts_[0]) * sizeof(std::uint64_t));
    words_ = record<std::uint64_t>(vocabulary, 0) + 1;
    require(words_ >= 1 && words_ <= counts_[0] + 1, "its number of words does not fit its number of unigrams");
    if constexpr (std::is_same_v<Quantization, lm::ngram::SeparatelyQuantize>) read_quantization();
    take(Quantization::Size(static_cast<std::uint8_t>(counts_.size()), config_));
    const char* const unigrams = take(trie::Unigram::Size(counts_[0]));
    std::uint64_t before = 0;
    for (std::uint64_t word = 0; word <= words_; ++word) {
      const auto unigram = record<trie::UnigramValue>(unigrams, word);
      require(unigram.next >= before && unigram.next <= counts_[1], "a pointer of a unigram is out of range");
      require(word == words_ || !std::isnan(unigram.weights.prob), "a probability is not a number");
      before = unigram.next;
    }
    for (std::size_t order = 2; order < counts_.size(); ++order) {
      check_middle<Pointers>(counts_[order - 1], counts_[order], Quantization::MiddleBits(config_));
    }
    take(trie::BitPackedLongest::Size(Quantization::LongestBits(config_), counts_.back(), counts_[0]));
  }

  void read_quantization() {
    require(file_.size() - offset_ >= 3, "it ends too soon");
    config_.prob_bits = static_cast<std::uint8_t>(file_.data()[offset_ + 1]);
    config_.backoff_bits = static_cast<std::uint8_t>(file_.data()[offset_ + 2]);
    const auto sensible = [](std::uint8_t bits) { return bits >= 1 && bits <= 25; };
    require(sensible(config_.prob_bits) && sensible(config_.backoff_bits), "its quantization has an absurd size");
  }

  template <class Pointers>
  void check_middle(std::uint64_t entries, std::uint64_t next_entries, std::uint8_t quantization_bits) {
    using Middle = trie::BitPackedMiddle<Pointers>;
    if constexpr (std::is_same_v<Pointers, trie::ArrayBhiksha>) read_pointer_bits();
    const char* const part = take(Middle::Size(quantization_bits, entries, counts_[0], next_entries, config_));
    if constexpr (std::is_same_v<Pointers, trie::ArrayBhiksha>) check_pointer_table(part, entries, next_entries);
    const trie::BitPackedLongest next;
    // KenLM's readers take mutable pointers to memory that they only read.
    Middle middle(const_cast<char*>(part), quantization_bits, entries, counts_[0], next_entries, next, config_);
    for (std::uint64_t entry = 0; entry < entries; ++entry) {
      trie::NodeRange range;
      middle.ReadEntry(entry, range);
      require(range.begin <= range.end && range.end <= next_entries, "a pointer of an n-gram is out of range");
    }
  }

  // Each order holds its number of bits, but KenLM uses that of the first order for all.
  void read_pointer_bits() {
    if (pointer_bits_read_) return;
    require(file_.size() - offset_ >= 2, "it ends too soon");
    config_.pointer_bhiksha_bits = static_cast<std::uint8_t>(file_.data()[offset_ + 1]);
    pointer_bits_read_ = true;
  }

  // The upper bits of pointers: after a header, a sorted list, at multiples of 8, of the entries at which they grow.
  void check_pointer_table(const char* part, std::uint64_t entries, std::uint64_t next_entries) {
    const auto address = reinterpret_cast<std::uintptr_t>(part);
    const char* const table = part + (8 - address % 8) % 8 + sizeof(std::uint64_t);
    const std::uint64_t size = trie::ArrayBhiksha::Size(entries + 1, next_entries, config_) / sizeof(std::uint64_t) - 1;
    require(record<std::uint64_t>(table, 0) == 0, "its pointer table does not begin with 0");
    for (std::uint64_t index = 1; index < size; ++index) {
      require(record<std::uint64_t>(table, index - 1) <= record<std::uint64_t>(table, index),
              "its pointer table is not sorted");
    }
  }

  const FileContent& file_;
  std::size_t offset_ = 0;
  lm::ngram::ModelType type_{};
  Config config_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t words_ = 0;
  bool pointer_bits_read_ = false;
};

// KenLM would read a negative count as a huge one.
void check_arpa_count(std::string_view line, std::size_t file_size) {
  const std::string digits(line.substr(std::min(line.size(), line.find('=') + 1)));
  const bool is_number = !digits.empty() && std::isdigit(static_cast<unsigned char>(digits[0]));
  // A line of an n-gram has at least a digit, a tab, a letter and its end.
  require(is_number && std::strtod(digits.c_str(), nullptr) <= static_cast<double>(file_size) / 4,
          "it is too short for the n-grams that it claims to have");
}

}  // namespace

std::size_t check_kenlm_binary(const FileContent& file) {
  if (file.size() < sizeof(kMagic) || std::memcmp(file.data(), kMagic, sizeof(kMagic) - 1) != 0) return 0;
  return Checker(file).check();
}

bool is_kenlm_binary(const FileHead& head) { return head.bytes.compare(0, sizeof(kMagic) - 1, kMagic) == 0; }

void check_arpa_counts(const FileHead& head) {
  std::string_view rest(head.bytes);
  bool in_counts = false;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const bool blank = std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c); });
    if (!in_counts && (blank || line[0] == '#')) continue;
    if (!in_counts && line != "\\data\\") return;  // KenLM reports this error itself, and better
    if (in_counts && blank) return;
    if (in_counts) check_arpa_count(line, head.file_size);
    in_counts = true;
  }
}

}  // namespace ctc
