// Runs a fuzzer on every file of the given folders: an input that once failed must not fail again. Needs no libFuzzer.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzzing.h"

int main(int count, char** arguments) {
  int inputs = 0;
  for (int index = 1; index < count; ++index) {
    for (const auto& entry : std::filesystem::directory_iterator(arguments[index])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string content{std::istreambuf_iterator<char>(file), {}};
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
      ++inputs;
    }
  }
  std::printf("%d passed, 0 failed\n", inputs);
  return inputs == 0;
}
