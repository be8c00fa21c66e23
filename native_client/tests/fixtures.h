// Small language models, and random posteriors.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "decoder/decoder.h"

namespace fixtures {

using Random = std::mt19937;

// A temporary folder, which is deleted with the object.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/ctc-test-XXXXXX";
    if (!mkdtemp(name)) throw std::runtime_error("no temporary folder can be made");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline float uniform(Random& random, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random);
}

inline std::vector<float> random_floats(Random& random, std::size_t size, float scale) {
  std::vector<float> values(size);
  for (float& value : values) value = uniform(random, -scale, scale);
  return values;
}

// Probabilities [frames, columns], rows one after the other.
inline std::vector<float> random_posteriors(Random& random, std::size_t frames, std::size_t columns) {
  std::gamma_distribution<float> gamma(0.3f);
  std::vector<float> posteriors;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    std::vector<float> row;
    float sum = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      row.push_back(gamma(random) + 1e-6f);
      sum += row.back();
    }
    for (const float value : row) posteriors.push_back(value / sum);
  }
  return posteriors;
}

inline ctc::Posteriors view(const std::vector<float>& posteriors, std::size_t columns) {
  constexpr std::ptrdiff_t size = sizeof(float);
  return {posteriors.data(), false, posteriors.size() / columns, columns, static_cast<std::ptrdiff_t>(columns) * size,
          size};
}

// Writes a trigram model with random scores, with some of the bigrams, and some of their trigrams.
inline void write_arpa(const std::string& path, const std::vector<std::string>& words, Random& random) {
  std::vector<std::pair<std::string, std::string>> pairs, triples;
  std::vector<std::string> befores = words, afters = words;
  befores.push_back("<s>");
  afters.push_back("</s>");
  for (const std::string& before : befores) {
    for (const std::string& after : afters) {
      if (random() % 2) pairs.emplace_back(before, after);
    }
  }
  pairs.emplace_back("<s>", words[0]);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [first, second] : pairs) {
    for (const auto& [also_second, third] : pairs) {
      if (second == also_second && random() % 2) triples.emplace_back(first + " " + second, third);
    }
  }
  triples.emplace_back("<s> " + words[0], words[0]);
  std::sort(triples.begin(), triples.end());
  triples.erase(std::unique(triples.begin(), triples.end()), triples.end());
  std::ofstream file(path);
  file << "\\data\\\nngram 1=" << words.size() + 3 << "\nngram 2=" << pairs.size() << "\nngram 3=" << triples.size();
  file << "\n\n\\1-grams:\n";
  for (const char* const word : {"<unk>", "<s>", "</s>"}) file << uniform(random, -3, 0) << "\t" << word << "\t0\n";
  for (const std::string& word : words) {
    file << uniform(random, -3, 0) << "\t" << word << "\t" << uniform(random, -1, 0) << "\n";
  }
  file << "\n\\2-grams:\n";
  for (const auto& [a, b] : pairs) {
    file << uniform(random, -2, 0) << "\t" << a << " " << b << "\t" << uniform(random, -1, 0) << "\n";
  }
  file << "\n\\3-grams:\n";
  for (const auto& [a, b] : triples) file << uniform(random, -2, 0) << "\t" << a << " " << b << "\n";
  file << "\n\\end\\\n";
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace fixtures
