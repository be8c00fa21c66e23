// The common parts of the fuzzers.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "decoder/decoder.h"

// The entry point that libFuzzer, and replay.cc, call for every input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzzing {

// A file in memory, under a name that can be opened.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& content) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  const int file_;
};

inline const ctc::Labels& labels() {
  static const ctc::Labels labels({" ", "a", "b"});
  return labels;
}

// Decodes a few frames that allow many words.
inline void decode(std::shared_ptr<const ctc::Scorer> scorer) {
  static const std::vector<float> posteriors = {
      0.1f, 0.4f, 0.4f, 0.1f, 0.2f, 0.3f, 0.3f, 0.2f, 0.5f, 0.1f, 0.2f, 0.2f, 0.1f, 0.3f, 0.5f, 0.1f,
      0.4f, 0.2f, 0.2f, 0.2f, 0.1f, 0.6f, 0.2f, 0.1f, 0.3f, 0.2f, 0.2f, 0.3f, 0.1f, 0.1f, 0.7f, 0.1f,
  };
  ctc::DecoderOptions options;
  options.beam_width = 30;
  options.result_count = 30;
  const ctc::Decoder decoder(labels(), options, std::move(scorer));
  decoder.decode({posteriors.data(), false, posteriors.size() / 4, 4, 4 * sizeof(float), sizeof(float)});
}

}  // namespace fuzzing
