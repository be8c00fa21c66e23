// Writes a scorer package that DeepSpeech 0.6 to 0.9 can read, too (see scorer_package.h).
#include "arguments.h"
#include "language_model/scorer.h"
#include "language_model/scorer_package.h"

int main(int count, char** arguments) {
  return ctc::run(
      "usage: generate_scorer --alphabet alphabet.txt --lm lm.binary --package OUT.scorer [--unit word|character]\n"
      "                       [--default_alpha 1.5] [--default_beta 2.25]\n"
      "  without --alphabet, the labels are the UTF-8 bytes 1 to 255\n",
      [&] {
        const ctc::Arguments given(count, arguments,
                                   {"--alphabet", "--lm", "--package", "--unit", "--default_alpha", "--default_beta"});
        const std::string unit = given.optional("--unit", "word");
        if (unit != "word" && unit != "character") throw ctc::Error("--unit is neither 'word' nor 'character'");
        const ctc::Labels labels(ctc::read_alphabet(given.optional("--alphabet", "")));
        const std::string out = given.required("--package");
        const std::string lm = given.required("--lm");
        const ctc::PackageDefaults defaults{given.number("--default_alpha", 1.5), given.number("--default_beta", 2.25)};
        const ctc::Scorer scorer(labels, lm, unit == "word" ? ctc::Unit::kWord : ctc::Unit::kCharacter);
        ctc::write_package(out, lm, scorer.trie(), labels, scorer.unit(), defaults);
        std::printf("%s: %zu nodes\n", out.c_str(), scorer.trie().size());
      });
}
