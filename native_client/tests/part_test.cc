// The small parts: labels, logarithms, tries, posteriors, options.
#include "decoder/prefix_tree.h"
#include "fixtures.h"
#include "language_model/lexicon_trie.h"
#include "language_model/vocabulary.h"
#include "shared/error.h"
#include "shared/log_math.h"
#include "testing.h"

namespace {

using namespace ctc;

TEST(labels_spell_by_the_longest_first) {
  const Labels labels({"a", "b", "ab", "\xC3\xA4"});
  CHECK((labels.spell("aab\xC3\xA4") == std::vector<Spelling>{{0, 2, 3}}));
  CHECK(labels.spell("ac").empty());
}

TEST(labels_of_one_text_spell_it_in_several_ways) {
  const Labels labels({"a", "b", "a"}, {0, 1, 1}, 3);
  CHECK((labels.spell("aba") == std::vector<Spelling>{{0, 1, 0}, {2, 1, 0}, {0, 1, 2}, {2, 1, 2}}));
  CHECK(labels.ambiguous() && labels.column(2) == 1 && labels.column_count() == 3);
  CHECK(labels.spell(std::string(100, 'a')).size() == Labels::kMostSpellings);
  CHECK(Labels({"a", "ab"}).ambiguous() && !Labels({"ac", "ab"}).ambiguous());
}

TEST(bad_labels_are_refused) {
  CHECK_THROWS(Labels({}), "at least one label");
  CHECK_THROWS(Labels({"a", ""}), "label 1 is empty");
  CHECK_THROWS(Labels({"a", std::string("b\0", 2)}), "label 1 has a NUL byte");
  CHECK_THROWS(Labels({"a", "b", "a"}), "labels 0 and 2 are both 'a'");
  CHECK_THROWS(Labels({"a", "b", "a"}, {1, 0, 1}, 2), "labels 0 and 2 are both 'a' of column 1");
  CHECK_THROWS(Labels({" ", "b", " "}, {1, 0, 2}, 3), "labels 0 and 2 are both ' '");
  CHECK_THROWS(Labels({"a", "b"}, {1, 2}, 2), "label 1 has column 2");
  CHECK_THROWS(Labels({"a", "b"}, {1}, 2), "1 columns for 2 labels");
}

TEST(log_add_adds_probabilities) {
  CHECK_NEAR(log_add(std::log(0.25f), std::log(0.5f)), std::log(0.75f), 1e-6f);
  CHECK(log_add(kLogZero, -1.0f) == -1.0f);
  CHECK(log_add(-1.0f, kLogZero) == -1.0f);
  CHECK(log_add(kLogZero, kLogZero) == kLogZero);
  fixtures::Random random(1);
  for (int round = 0; round < 100000; ++round) {
    const float a = fixtures::uniform(random, -40, 0), b = fixtures::uniform(random, -40, 0);
    CHECK_NEAR(log_add(a, b), static_cast<float>(std::log(std::exp(double(a)) + std::exp(double(b)))), 1e-5f);
  }
}

TEST(a_trie_knows_its_words_and_the_best_below_each_node) {
  const LexiconTrie trie({{{1, 2}, 7, -3.0f}, {{1}, 5, -4.0f}, {{2, 1}, 6, -1.0f}, {{1, 3}, 8, -2.0f}});
  CHECK(trie.size() == 6);
  CHECK(trie.nodes()[trie.find({1, 2})].word == 7);
  CHECK(trie.nodes()[trie.find({2})].word == TrieNode::kNoWord);
  CHECK(trie.find({3}) == LexiconTrie::kNoNode);
  CHECK(trie.nodes()[LexiconTrie::kRoot].highest == -1.0f);
  CHECK(trie.nodes()[trie.find({1})].highest == -2.0f);
  CHECK(trie.entries().size() == 4);
  CHECK_THROWS(LexiconTrie({{{1}, 1, 0}, {{1}, 2, 0}}), "spelled alike");
  CHECK_THROWS(LexiconTrie({}), "no word");
}

TEST(compacting_a_prefix_tree_keeps_what_is_used) {
  PrefixTree tree(Sentence{});
  const std::uint32_t a = tree.add_child(PrefixTree::kRoot, 1, 0);
  tree.add_child(PrefixTree::kRoot, 2, tree.add_sentence({}));
  std::uint32_t ab = tree.add_child(a, 2, tree.add_sentence({{}, -5.0f, -1.0f, 0}));
  std::uint32_t ac = tree.add_child(a, 3, 0);
  std::uint32_t late = tree.add_arrival(tree.add_arrival(kNowhere, 3), 8);
  tree.add_arrival(late, 9);
  CHECK(tree.size() == 5 + 3 + 3);
  tree.compact({&ab, &ac}, {&late});
  CHECK(tree.size() == 4 + 2 + 2);
  CHECK((tree.labels(ab) == std::vector<Label>{1, 2}));
  CHECK((tree.frames(late) == std::vector<std::uint32_t>{3, 8}));
  CHECK(tree.sentence(tree[ab].sentence).score == -5.0f);
  CHECK(tree.find_child(tree.find_child(PrefixTree::kRoot, 1), 2) == ab);
  CHECK(tree.find_child(tree.find_child(PrefixTree::kRoot, 1), 3) == ac);
  CHECK(tree.find_child(PrefixTree::kRoot, 2) == kNowhere);
}

TEST(a_path_walks_only_what_it_did_not_have) {
  // 1 - 2 - 3 - 5 - 6, and 4 after 2
  std::vector<std::uint32_t> parents = {kNowhere, 0, 1, 2, 2, 3, 5};
  int walked = 0;
  Path path;
  const auto to = [&](std::uint32_t node) {
    walked = 0;
    const auto parent_of = [&](std::uint32_t child) { return ++walked, parents[child]; };
    return path.to(node, 0, parent_of, [](std::uint32_t value) { return 10 * value; });
  };
  using Values = std::vector<std::uint32_t>;
  CHECK((to(5) == Values{10, 20, 30, 50}) && walked == 4);
  CHECK((to(6) == Values{10, 20, 30, 50, 60}) && walked == 1);
  CHECK((to(4) == Values{10, 20, 40}) && walked == 1);
  CHECK((to(2) == Values{10, 20}) && walked == 0);
  CHECK((to(6) == Values{10, 20, 30, 50, 60}) && walked == 3);
  path.renumber({0, 1, 2, kNowhere, 3, kNowhere, kNowhere}, kNowhere);
  parents = {kNowhere, 0, 1, 2};
  CHECK((to(3) == Values{10, 20, 30}) && walked == 1);
  CHECK(to(0).empty() && walked == 0);
  CHECK((to(3) == Values{10, 20, 30}) && walked == 3);
}

TEST(posteriors_are_read_across_strides_and_checked) {
  const std::vector<double> values = {0.5, 9, 0.25, 9, 0.25, 9};
  const Posteriors view{values.data(), true, 1, 3, 0, 2 * sizeof(double)};
  std::vector<float> logarithms;
  view.read_frame(0, logarithms);
  CHECK_NEAR(logarithms[0], std::log(0.5f), 1e-6f);
  CHECK_NEAR(logarithms[2], std::log(0.25f), 1e-6f);
  const Posteriors bad{values.data(), true, 1, 3, 0, sizeof(double)};
  CHECK_THROWS(bad.read_frame(0, logarithms, 4), "frame 4, column 1 of the posteriors is 9");
}

TEST(characters_are_told_from_words) {
  CHECK(is_character("a") && is_character("\xE8\xAA\x9E"));
  CHECK(!is_character("") && !is_character("ab") && !is_character("\xAA") && !is_character("\xC3\xA4\xC3\xA4"));
  CHECK(word_text("<space>", Unit::kCharacter) == " " && text_word(" ", Unit::kCharacter) == "<space>");
}

}  // namespace

int main() { return testing::run_tests(); }
