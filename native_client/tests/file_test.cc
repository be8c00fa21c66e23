// Files: written files can be read, and damaged files are refused or harmless.
#include <sys/stat.h>

#include "fixtures.h"
#include "language_model/acceptor.h"
#include "language_model/kenlm_binary.h"
#include "language_model/scorer_package.h"
#include "language_model/trie_file.h"
#include "shared/error.h"
#include "testing.h"

namespace {

using namespace ctc;
using fixtures::Random;

const Labels kLabels({" ", "a", "b"});
const std::vector<std::string> kWords = {"a", "ab", "b", "bb", "ba"};

template <class Model>
std::string binary_of(const std::string& arpa, const std::string& path, bool with_vocabulary) {
  lm::ngram::Config config;
  config.show_progress = false;
  config.messages = nullptr;
  config.write_mmap = path.c_str();
  config.include_vocab = with_vocabulary;
  const Model model(arpa.c_str(), config);
  return path;
}

std::vector<std::string> all_binaries(const fixtures::Folder& folder) {
  Random random(1);
  const std::string arpa = folder / "lm.arpa";
  fixtures::write_arpa(arpa, kWords, random);
  using namespace lm::ngram;
  return {binary_of<ProbingModel>(arpa, folder / "probing", true),
          binary_of<RestProbingModel>(arpa, folder / "rest", true),
          binary_of<TrieModel>(arpa, folder / "trie", true),
          binary_of<QuantTrieModel>(arpa, folder / "quant", true),
          binary_of<ArrayTrieModel>(arpa, folder / "array", true),
          binary_of<QuantArrayTrieModel>(arpa, folder / "quant_array", true)};
}

// Decodes with a scorer. The numbers may be anything, but decoding must end, and must not access other memory.
void use(const std::shared_ptr<const Scorer>& scorer) {
  Random random(2);
  DecoderOptions options;
  options.beam_width = 20;
  const std::vector<float> posteriors = fixtures::random_posteriors(random, 12, 4);
  Decoder(kLabels, options, scorer).decode(fixtures::view(posteriors, 4));
}

TEST(every_kind_of_binary_scores_like_the_arpa_file) {
  const fixtures::Folder folder;
  const std::vector<std::string> paths = all_binaries(folder);
  const LanguageModel arpa(folder / "lm.arpa", LanguageModel::Vocabulary::kLoad);
  for (const std::string& path : paths) {
    const LanguageModel binary(path, LanguageModel::Vocabulary::kLoad);
    CHECK(binary.size() == arpa.size());
    const bool quantized = path.find("quant") != std::string::npos;
    for (const std::string& word : kWords) {
      LanguageState next;
      CHECK_NEAR(binary.score(binary.sentence_begin_state(), binary.index(word), next),
                 arpa.score(arpa.sentence_begin_state(), arpa.index(word), next), quantized ? 0.3f : 1e-3f);
    }
  }
}

TEST(damaged_binaries_are_refused_or_harmless) {
  const fixtures::Folder folder;
  for (const std::string& path : all_binaries(folder)) {
    const std::string content = fixtures::read_file(path);
    Random random(3);
    std::size_t refused = 0;
    for (int round = 0; round < 400; ++round) {
      std::string damaged = content;
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << (random() % 8));
      if (round % 4 == 0) damaged.resize(random() % damaged.size());
      fixtures::write_file(folder / "damaged", damaged);
      try {
        use(std::make_shared<const Scorer>(kLabels, folder / "damaged", Unit::kWord));
      } catch (const Error& error) {
        CHECK(std::string(error.what()).find("damaged") != std::string::npos);
        ++refused;
      }
    }
    CHECK(refused >= 100);
  }
}

TEST(a_trie_file_is_read_as_it_was_written) {
  const fixtures::Folder folder;
  all_binaries(folder);
  const Scorer scorer(kLabels, folder / "lm.arpa", Unit::kWord);
  write_trie_file(folder / "words.trie", scorer.trie(), kLabels, scorer.language_model(), Unit::kWord);
  const Scorer again(kLabels, folder / "lm.arpa", folder / "words.trie");
  CHECK(again.trie().size() == scorer.trie().size());
  CHECK(again.trie().entries().size() == kWords.size());
}

TEST(every_damaged_byte_of_a_trie_file_is_noticed) {
  const fixtures::Folder folder;
  all_binaries(folder);
  const Scorer scorer(kLabels, folder / "lm.arpa", Unit::kWord);
  write_trie_file(folder / "words.trie", scorer.trie(), kLabels, scorer.language_model(), Unit::kWord);
  const std::string content = fixtures::read_file(folder / "words.trie");
  for (std::size_t at = 0; at < content.size(); ++at) {
    std::string damaged = content;
    damaged[at] ^= static_cast<char>(1 << (at % 8));
    fixtures::write_file(folder / "damaged", damaged);
    CHECK_THROWS(Scorer(kLabels, folder / "lm.arpa", folder / "damaged"), "damaged cannot be used");
    fixtures::write_file(folder / "damaged", content.substr(0, at));
    CHECK_THROWS(Scorer(kLabels, folder / "lm.arpa", folder / "damaged"), "damaged cannot be used");
  }
}

TEST(a_package_has_the_words_and_weights_that_were_written) {
  const fixtures::Folder folder;
  for (const std::string& path : all_binaries(folder)) {
    const Scorer scorer(kLabels, path, Unit::kWord);
    write_package(folder / "a.scorer", path, scorer.trie(), kLabels, Unit::kWord, {0.5, 1.25});
    const Scorer package(kLabels, folder / "a.scorer", Unit::kWord);
    CHECK(package.package_defaults()->lm_weight == 0.5);
    CHECK(package.package_defaults()->valid_word_count_weight == 1.25);
    CHECK(package.trie().entries().size() == kWords.size());
  }
}

TEST(damaged_packages_are_refused_or_harmless) {
  const fixtures::Folder folder;
  all_binaries(folder);
  const Scorer scorer(kLabels, folder / "trie", Unit::kWord);
  write_package(folder / "a.scorer", folder / "trie", scorer.trie(), kLabels, Unit::kWord, {0.5, 1.25});
  const std::string content = fixtures::read_file(folder / "a.scorer");
  const std::size_t model_size = check_kenlm_binary(FileContent(folder / "a.scorer"));
  for (std::size_t at = model_size; at < content.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = content;
      damaged[at] ^= static_cast<char>(1 << bit);
      fixtures::write_file(folder / "damaged", damaged);
      try {
        use(std::make_shared<const Scorer>(kLabels, folder / "damaged", Unit::kWord));
      } catch (const Error& error) {
        CHECK(std::string(error.what()).find("damaged") != std::string::npos);
      }
    }
    fixtures::write_file(folder / "damaged", content.substr(0, at));
    CHECK_THROWS(Scorer(kLabels, folder / "damaged", Unit::kWord), "damaged");
  }
}

TEST(an_acceptor_shares_the_ends_of_words) {
  const fixtures::Folder folder;
  const std::vector<std::vector<Symbol>> words = {{1, 2, 3}, {1, 2, 4}, {2, 2, 3}, {2, 2, 4}, {4}};
  {
    NewFile file(folder / "words");
    write_acceptor(file, words);
    file.finish();
  }
  auto read = read_acceptor(FileContent(folder / "words"), 0, 5);
  std::sort(read.begin(), read.end());
  CHECK(read == words);
  CHECK(fixtures::read_file(folder / "words").size() < 65 + 16 + 4 * 20 + 16 + 7 * 16 + 1);
  CHECK_THROWS(read_acceptor(FileContent(folder / "words"), 0, 4), "too many");
  NewFile file(folder / "long");
  CHECK_THROWS(write_acceptor(file, {std::vector<Symbol>(100000, 1)}), "more than 1000 symbols");
}

TEST(a_word_may_have_as_many_symbols_as_are_written) {
  const fixtures::Folder folder;
  const std::vector<std::vector<Symbol>> words = {std::vector<Symbol>(1000, 1)};
  {
    NewFile file(folder / "words");
    write_acceptor(file, words);
    file.finish();
  }
  CHECK(read_acceptor(FileContent(folder / "words"), 0, 1) == words);
  NewFile file(folder / "longer");
  CHECK_THROWS(write_acceptor(file, {std::vector<Symbol>(1001, 1)}), "more than 1000 symbols");
}

TEST(words_that_share_states_are_not_listed_without_end) {
  const fixtures::Folder folder;
  std::vector<std::vector<Symbol>> words;
  for (Symbol first = 1; first <= 100; ++first) {
    words.emplace_back(900, 7);
    words.back()[0] = first;
  }
  NewFile file(folder / "words");
  write_acceptor(file, words);
  file.finish();
  CHECK_THROWS(read_acceptor(FileContent(folder / "words"), 0, 100), "too long");
}

TEST(a_trie_file_with_endless_words_is_refused) {
  const fixtures::Folder folder;
  all_binaries(folder);
  const Scorer scorer(kLabels, folder / "lm.arpa", Unit::kWord);
  for (const int length : {1100, 900}) {
    std::vector<LexiconEntry> entries;
    for (int size = 1; size <= length; ++size) entries.push_back({Spelling(std::size_t(size), 1), 3, -1});
    const LexiconTrie trie(std::move(entries));
    write_trie_file(folder / "long.trie", trie, kLabels, scorer.language_model(), Unit::kWord);
    CHECK_THROWS(Scorer(kLabels, folder / "lm.arpa", folder / "long.trie"), "long.trie cannot be used: ");
  }
}

TEST(a_pipe_is_refused_and_not_waited_for) {
  const fixtures::Folder folder;
  CHECK(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS(Scorer(kLabels, folder / "pipe", Unit::kWord), "is not a regular file");
}

TEST(messages_are_one_line_that_can_be_printed) {
  const std::string nothing(1, '\0');
  CHECK(std::string(Error("a\nb\x1b" + nothing + "\xff\xc3\xa4\xed\xa0\x80").what()) ==
        "a\\x0ab\\x1b\\x00\\xff\xc3\xa4\\xed\\xa0\\x80");
  CHECK(std::string(Error(std::string(100000, 'x')).what()).size() < 3000);
}

TEST(a_truncated_arpa_file_is_refused) {
  const fixtures::Folder folder;
  all_binaries(folder);
  const std::string content = fixtures::read_file(folder / "lm.arpa");
  for (std::size_t size = 0; size + 3 < content.size(); ++size) {
    fixtures::write_file(folder / "damaged", content.substr(0, size));
    try {
      use(std::make_shared<const Scorer>(kLabels, folder / "damaged", Unit::kWord));
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("damaged cannot be used") != std::string::npos);
    }
  }
}

TEST(absurd_counts_of_an_arpa_file_are_refused) {
  const fixtures::Folder folder;
  for (const std::string count : {"-4", "1000000", "18446744073709551615", "", "x"}) {
    for (const std::string end : {"\n", "\r\n"}) {
      const std::string begin = "# a comment" + end + "\\data\\" + end + "ngram 1=6" + end + "ngram 2=" + count + end;
      fixtures::write_file(folder / "damaged", begin + end + "\\1-grams:" + end);
      CHECK_THROWS(Scorer(kLabels, folder / "damaged", Unit::kWord), "it is too short for the n-grams");
    }
  }
}

TEST(a_new_file_appears_only_when_it_is_whole) {
  const fixtures::Folder folder;
  {
    NewFile file(folder / "new");
    file.write("abc", 3);
    CHECK(!std::filesystem::exists(folder / "new"));
  }
  CHECK(!std::filesystem::exists(folder / "new.partial"));
  NewFile file(folder / "new");
  file.write("abc", 3);
  file.finish();
  CHECK(fixtures::read_file(folder / "new") == "abc");
}

TEST(a_new_file_takes_the_place_of_files_alone) {
  const fixtures::Folder folder;
  CHECK(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS(NewFile(folder / "pipe"), "pipe cannot be replaced: it is not a regular file");
  fixtures::write_file(folder / "file", "old");
  std::filesystem::create_symlink("file", folder / "link");
  NewFile file(folder / "link");
  file.write("abc", 3);
  file.finish();
  CHECK(std::filesystem::is_symlink(folder / "link") && fixtures::read_file(folder / "file") == "abc");
}

TEST(a_new_file_is_where_a_link_leads_whether_there_was_a_file_or_not) {
  const fixtures::Folder folder;
  std::filesystem::create_directory(folder / "disk");
  std::filesystem::create_symlink("disk/link", folder / "link");
  std::filesystem::create_symlink("../file", folder / "disk/link");
  NewFile file(folder / "link");
  file.write("abc", 3);
  file.finish();
  CHECK(std::filesystem::is_symlink(folder / "link") && std::filesystem::is_symlink(folder / "disk/link"));
  CHECK(fixtures::read_file(folder / "file") == "abc");
}

}  // namespace
