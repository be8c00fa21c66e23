// Any floats as posteriors, cut at any place; and, normalized, as posteriors that must be decoded.
#include <cmath>
#include <cstring>

#include "fuzzing.h"
#include "shared/error.h"

namespace {

constexpr std::size_t kColumns = 4;

ctc::Posteriors view(const std::vector<float>& values, std::size_t begin, std::size_t end) {
  constexpr std::ptrdiff_t size = sizeof(float);
  return {values.data() + begin * kColumns, false, end - begin, kColumns, size * std::ptrdiff_t{kColumns}, size};
}

void feed(const std::shared_ptr<const ctc::Decoder>& decoder, const std::vector<float>& values, std::size_t cut) {
  const std::size_t frames = values.size() / kColumns;
  ctc::Stream stream(decoder);
  try {
    stream.feed(view(values, 0, cut % (frames + 1)));
    stream.peek();
    stream.feed(view(values, cut % (frames + 1), frames));
  } catch (const ctc::Error&) {
  }
  if (stream.finish().empty()) std::abort();
}

void normalize(std::vector<float>& values) {
  for (std::size_t frame = 0; frame + kColumns <= values.size(); frame += kColumns) {
    float sum = 0;
    for (std::size_t column = 0; column < kColumns; ++column) {
      float& value = values[frame + column];
      value = std::isfinite(value) ? std::min(std::abs(value), 1e6f) : 0;
      sum += value;
    }
    for (std::size_t column = 0; column < kColumns; ++column) {
      float& value = values[frame + column];
      value = sum > 0 ? value / sum : 1.0f / kColumns;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzzing::MemoryFile arpa(
      "\\data\\\nngram 1=6\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\t0\n-1\t<s>\t0\n-1\t</s>\t0\n"
      "-1\ta\t0\n-1\tb\t0\n-1\tab\t0\n\n\\2-grams:\n-1\ta b\n\n\\end\\\n");
  static const auto scorer = std::make_shared<const ctc::Scorer>(fuzzing::labels(), arpa.path(), ctc::Unit::kWord);
  if (size < 3) return 0;
  ctc::DecoderOptions options;
  options.beam_width = 1 + data[0] % 16;
  options.cutoff_top_n = data[1] % (kColumns + 2);
  if (data[1] & 0x80) options.unknown_word_score = -1;
  if (data[1] & 0x10) options.lm_weight = -0.5f;
  const bool scored = !(data[1] & 0x20);
  if (scored && data[1] & 0x40) options.hot_words = {{"ab", 2.0f}, {"bb", 1.0f}, {"a bb a", 3.0f}};
  const auto decoder = std::make_shared<const ctc::Decoder>(fuzzing::labels(), options, scored ? scorer : nullptr);
  std::vector<float> values((size - 3) / sizeof(float) / kColumns * kColumns);
  if (!values.empty()) std::memcpy(values.data(), data + 3, values.size() * sizeof(float));
  feed(decoder, values, data[2]);
  normalize(values);
  feed(decoder, values, data[2]);
  return 0;
}
