// Any bytes as a language model: ARPA file, KenLM binary of any kind, or scorer package.
#include "fuzzing.h"
#include "shared/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzzing::MemoryFile file(std::string(reinterpret_cast<const char*>(data), size));
  for (const ctc::Unit unit : {ctc::Unit::kWord, ctc::Unit::kCharacter}) {
    try {
      fuzzing::decode(std::make_shared<const ctc::Scorer>(fuzzing::labels(), file.path(), unit));
    } catch (const ctc::Error& error) {
      if (ctc::printable(error.what()) != error.what()) std::abort();
    }
  }
  return 0;
}
