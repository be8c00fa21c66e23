// Any bytes as the nodes of a trie file, after a header with the right hashes.
#include <cstring>

#include "fuzzing.h"
#include "shared/error.h"
#include "util/murmur_hash.hh"

namespace {

constexpr std::size_t kHeaderSize = 64, kNodesAt = 16, kLabelHashAt = 32, kNodeHashAt = 40, kHeaderHashAt = 48;

constexpr char kArpa[] =
    "\\data\\\nngram 1=6\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\t0\n-1\t<s>\t0\n-1\t</s>\t0\n"
    "-1\ta\t0\n-1\tb\t0\n-1\tab\t0\n\n\\2-grams:\n-1\ta b\n\n\\end\\\n";

void store(std::string& content, std::size_t at, std::uint64_t value) {
  std::memcpy(&content[at], &value, sizeof(value));
}

std::uint64_t hash(const char* data, std::size_t size) { return util::MurmurHash64A(data, size, 0); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzzing::MemoryFile language_model(kArpa);
  std::string content(reinterpret_cast<const char*>(data), size);
  if (size >= kHeaderSize + 16) {
    store(content, kNodesAt, (size - kHeaderSize) / 16 - 1);
    store(content, kLabelHashAt, hash(" \0a\0b\0", 6));
    store(content, kNodeHashAt, hash(content.data() + kHeaderSize, size - kHeaderSize));
    store(content, kHeaderHashAt, hash(content.data(), kHeaderHashAt));
  }
  const fuzzing::MemoryFile file(content);
  try {
    fuzzing::decode(std::make_shared<const ctc::Scorer>(fuzzing::labels(), language_model.path(), file.path()));
  } catch (const ctc::Error&) {
  }
  return 0;
}
