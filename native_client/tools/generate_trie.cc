// Writes the trie file of a language model's words (see trie_file.h).
#include "arguments.h"
#include "language_model/scorer.h"
#include "language_model/trie_file.h"

int main(int count, char** arguments) {
  return ctc::run(
      "usage: generate_trie --alphabet alphabet.txt --lm lm.binary --trie OUT [--unit word|character]\n"
      "  without --alphabet, the labels are the UTF-8 bytes 1 to 255\n",
      [&] {
        const ctc::Arguments given(count, arguments, {"--alphabet", "--lm", "--trie", "--unit"});
        const std::string unit = given.optional("--unit", "word");
        if (unit != "word" && unit != "character") throw ctc::Error("--unit is neither 'word' nor 'character'");
        const ctc::Labels labels(ctc::read_alphabet(given.optional("--alphabet", "")));
        const std::string out = given.required("--trie");
        const ctc::Scorer scorer(labels, given.required("--lm"),
                                 unit == "word" ? ctc::Unit::kWord : ctc::Unit::kCharacter);
        ctc::write_trie_file(out, scorer.trie(), labels, scorer.language_model(), scorer.unit());
        std::printf("%s: %zu nodes\n", out.c_str(), scorer.trie().size());
      });
}
