// Writes a scorer package that DeepSpeech 0.6 to 0.9 can read, too (see scorer_package.h).
#include <sstream>

#include "arguments.h"
#include "decoder/options.h"
#include "language_model/scorer.h"
#include "language_model/scorer_package.h"

namespace {

std::string usage(const ctc::DecoderOptions& defaults) {
  std::ostringstream text;
  text << "usage: generate_scorer --alphabet alphabet.txt --lm lm.binary --package OUT.scorer [--unit word|character]\n"
          "                       [--default_alpha "
       << defaults.lm_weight << "] [--default_beta " << defaults.valid_word_count_weight
       << "]\n  without --alphabet, the labels are the UTF-8 bytes 1 to 255\n";
  return text.str();
}

}  // namespace

int main(int count, char** arguments) {
  const ctc::DecoderOptions options;
  return ctc::run(
      usage(options).c_str(),
      [&] {
        const ctc::Arguments given(count, arguments,
                                   {"--alphabet", "--lm", "--package", "--unit", "--default_alpha", "--default_beta"});
        const std::string unit = given.optional("--unit", "word");
        if (unit != "word" && unit != "character") throw ctc::Error("--unit is neither 'word' nor 'character'");
        const ctc::Labels labels(ctc::read_alphabet(given.optional("--alphabet", "")));
        const std::string out = given.required("--package");
        const std::string lm = given.required("--lm");
        const ctc::PackageDefaults defaults{given.number("--default_alpha", options.lm_weight),
                                            given.number("--default_beta", options.valid_word_count_weight)};
        const ctc::Scorer scorer(labels, lm, unit == "word" ? ctc::Unit::kWord : ctc::Unit::kCharacter);
        ctc::write_package(out, lm, scorer.trie(), labels, scorer.unit(), defaults);
        std::printf("%s: %zu nodes\n", out.c_str(), scorer.trie().size());
      });
}
