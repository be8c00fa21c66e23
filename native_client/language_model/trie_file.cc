#include "language_model/trie_file.h"

#include <cstddef>
#include <cstring>

#include "language_model/files.h"
#include "shared/error.h"
#include "util/murmur_hash.hh"

namespace ctc {
namespace {

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t unit;
  std::uint64_t nodes;
  std::uint64_t words;
  std::uint64_t label_hash;
  std::uint64_t node_hash;
  std::uint64_t header_hash;
  std::uint64_t zero;
};
static_assert(sizeof(Header) == 64, "as described in the header file");

constexpr char kMagic[8] = "ctctrie";
constexpr std::uint32_t kVersion = 1;

// Look-aheads are rounded to floats once, so they are the same on every machine, except for the last bits.
constexpr float kScoreTolerance = 1e-3f;

// The most symbols of a word, and of all words together for each node.
constexpr std::size_t kMostSymbols = 1000;
constexpr std::size_t kMostSymbolsPerNode = 64;

std::uint64_t hash(const void* data, std::size_t size) { return util::MurmurHash64A(data, size, 0); }

std::uint64_t hash_labels(const Labels& labels) {
  std::string joined;
  for (const std::string& text : labels.texts()) joined += text + '\0';
  for (const Label column : labels.columns()) joined += std::to_string(column) + '\0';
  return hash(joined.data(), joined.size());
}

std::uint64_t hash_header(const Header& header) { return hash(&header, offsetof(Header, header_hash)); }

// Returns what is wrong with the file itself, or nullptr.
const char* find_damage(const FileContent& file, const Header& header) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return "it is not a trie file; generate_trie writes one";
  if (header.version != kVersion) return "it is a trie file of another version; write it again with generate_trie";
  if (hash_header(header) != header.header_hash || header.unit > 1 || header.zero != 0) return "its header is damaged";
  const std::size_t rest = file.size() - sizeof(Header);
  if (rest % sizeof(TrieNode) != 0 || header.nodes != rest / sizeof(TrieNode) - 1) return "it is truncated";
  if (hash(file.data() + sizeof(Header), rest) != header.node_hash) return "its nodes are damaged";
  return nullptr;
}

// Returns what makes the nodes unsafe to use, or nullptr.
const char* find_bad_node(const TrieNode* nodes, std::size_t size, std::size_t labels, std::size_t words) {
  if (size == 0 || nodes[0].first_child != 1 || nodes[size].first_child != size) return "its nodes do not form a trie";
  for (std::size_t node = 0; node < size; ++node) {
    const std::uint32_t begin = nodes[node].first_child, end = nodes[node + 1].first_child;
    if (begin <= node || end < begin || end > size) return "its nodes do not form a trie";
    for (std::uint32_t child = begin; child < end; ++child) {
      if (nodes[child].label >= labels) return "a node has a label that does not exist";
      if (child > begin && nodes[child].label <= nodes[child - 1].label) return "the children of a node are not sorted";
    }
    if (nodes[node].word != TrieNode::kNoWord && nodes[node].word >= words) return "a node has a word out of range";
    if (!(nodes[node].highest <= 0)) return "a node has a score that is not the logarithm of a probability";
  }
  return nullptr;
}

// Returns why the words are too long, or nullptr. Words are spelled one by one, so with long words a small file would
// take minutes and gigabytes.
const char* find_long_words(const TrieNode* nodes, std::size_t size) {
  std::size_t begin = 0, end = 1, depth = 0, symbols = 0;
  while (end < size) {  // level by level
    const std::size_t next_end = nodes[end].first_child;
    if (++depth > kMostSymbols) return "a word has more than 1000 symbols";
    begin = end;
    end = next_end;
    for (std::size_t node = begin; node < end; ++node) symbols += nodes[node].word == TrieNode::kNoWord ? 0 : depth;
  }
  return symbols / kMostSymbolsPerNode > size ? "its words are too long" : nullptr;
}

// True if every word of the trie has the language model's spelling and, where only this word counts, its score.
bool fits(const LexiconTrie& trie, const Labels& labels, const LanguageModel& language_model, Unit unit) {
  for (const LexiconEntry& entry : trie.entries()) {
    if (language_model.index(spelled_word(labels, unit, entry.spelling)) != entry.word) return false;
    if (language_model.unigram_score(entry.word) > entry.score + kScoreTolerance) return false;
  }
  return true;
}

}  // namespace

void write_trie_file(const std::string& path, const LexiconTrie& trie, const Labels& labels,
                     const LanguageModel& language_model, Unit unit) {
  const std::size_t bytes = (trie.size() + 1) * sizeof(TrieNode);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.unit = static_cast<std::uint32_t>(unit);
  header.nodes = trie.size();
  header.words = language_model.size();
  header.label_hash = hash_labels(labels);
  header.node_hash = hash(trie.nodes(), bytes);
  header.header_hash = hash_header(header);
  NewFile file(path);
  file.write(&header, sizeof(header));
  file.write(trie.nodes(), bytes);
  file.finish();
}

LexiconTrie read_trie_file(const std::string& path, const Labels& labels, const LanguageModel& language_model,
                           Unit& unit) {
  const auto file = std::make_shared<const FileContent>(path);
  const auto refuse = [&path](const std::string& why) { return Error(path + " cannot be used: " + why); };
  if (file->size() < sizeof(Header) + sizeof(TrieNode)) throw refuse("it is too short for a trie file");
  Header header;
  std::memcpy(&header, file->data(), sizeof(header));
  if (const char* const damage = find_damage(*file, header)) throw refuse(damage);
  const auto refuse_for = [&refuse](const std::string& other) {
    return refuse("it was made for another " + other + "; without a trie file, one is made in memory");
  };
  if (header.label_hash != hash_labels(labels)) throw refuse_for("alphabet");
  const std::string other_model = "language model than " + language_model.path();
  if (header.words != language_model.size()) throw refuse_for(other_model);
  const auto* const nodes = reinterpret_cast<const TrieNode*>(file->data() + sizeof(Header));
  if (const char* const bad = find_bad_node(nodes, header.nodes, labels.size(), header.words)) throw refuse(bad);
  if (const char* const bad = find_long_words(nodes, header.nodes)) throw refuse(bad);
  unit = static_cast<Unit>(header.unit);
  if (unit == Unit::kWord && !labels.part_words()) throw refuse("there is no label ' ' between words");
  LexiconTrie trie(file, nodes, header.nodes);
  if (!fits(trie, labels, language_model, unit)) throw refuse_for(other_model);
  return trie;
}

}  // namespace ctc
