#include "language_model/acceptor.h"

#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "shared/error.h"

namespace ctc {
namespace {

constexpr std::int32_t kMagic = 2125659606;
constexpr std::int32_t kAlignedVersion = 1;
constexpr std::int32_t kAlignedFlag = 4;
constexpr std::size_t kAlignment = 16;
constexpr char kType[] = "const";
constexpr char kArcType[] = "standard";

// OpenFst's bits for an expanded, deterministic acceptor with sorted arcs, without weights, empty labels or loops.
constexpr std::uint64_t kProperties = 0x0000A5AA5A950001;

// The most symbols of a word; it limits the depth of the recursion that follows a word's arcs.
constexpr std::size_t kLongest = 1000;

// The most symbols of all words together, for each word that is allowed: without this limit, states that words share
// could turn a small file into a huge list.
constexpr std::size_t kMostSymbolsPerWord = 64;

struct State {
  float final_weight;  // 0 if a word may end here, else infinity
  std::uint32_t first_arc;
  std::uint32_t arc_count;
  std::uint32_t empty_input_arcs;
  std::uint32_t empty_output_arcs;
};
static_assert(sizeof(State) == 20);

struct Arc {
  std::int32_t input;
  std::int32_t output;
  float weight;
  std::int32_t next_state;
};
static_assert(sizeof(Arc) == 16);

[[noreturn]] void refuse(const char* message) { throw Error(std::string("its words are damaged: ") + message); }

class Reader {
 public:
  Reader(const FileContent& file, std::size_t offset) : file_(file), offset_(offset) {}

  template <class Value>
  Value read() {
    Value value;
    std::memcpy(&value, take(sizeof(Value)), sizeof(Value));
    return value;
  }

  bool read_text(const char* expected) {
    const auto size = read<std::int32_t>();
    return size == static_cast<std::int32_t>(std::strlen(expected)) &&
           std::memcmp(take(std::strlen(expected)), expected, std::strlen(expected)) == 0;
  }

  template <class Record>
  std::vector<Record> read_array(std::uint64_t count) {
    offset_ = (offset_ + kAlignment - 1) / kAlignment * kAlignment;
    if (count > file_.size() / sizeof(Record)) refuse("the file ends too soon");
    std::vector<Record> records(count);
    const char* const begin = take(count * sizeof(Record));
    if (count > 0) std::memcpy(records.data(), begin, count * sizeof(Record));
    return records;
  }

 private:
  const char* take(std::size_t size) {
    if (offset_ > file_.size() || size > file_.size() - offset_) refuse("the file ends too soon");
    offset_ += size;
    return file_.data() + offset_ - size;
  }

  const FileContent& file_;
  std::size_t offset_;
};

struct Acceptor {
  std::uint32_t start;
  std::vector<State> states;
  std::vector<Arc> arcs;
};

void check(const Acceptor& acceptor) {
  for (const State& state : acceptor.states) {
    if (state.first_arc > acceptor.arcs.size() || state.arc_count > acceptor.arcs.size() - state.first_arc) {
      refuse("a state has arcs out of range");
    }
    // Every path must lead to a word, so that the number of words limits the number of steps.
    if (state.arc_count == 0 && !(state.final_weight == 0)) refuse("a path leads to no word");
  }
  for (const Arc& arc : acceptor.arcs) {
    if (arc.next_state < 0 || static_cast<std::size_t>(arc.next_state) >= acceptor.states.size()) {
      refuse("an arc leads nowhere");
    }
    if (arc.input <= 0 || arc.input != arc.output) refuse("an arc has no proper label");
  }
}

// Follows every path from the start.
class Lister {
 public:
  Lister(const Acceptor& acceptor, std::size_t most_words)
      : acceptor_(acceptor), most_words_(most_words), symbols_left_(kLongest + kMostSymbolsPerWord * most_words) {}

  std::vector<std::vector<Symbol>> list() {
    follow(acceptor_.start);
    return std::move(words_);
  }

 private:
  void follow(std::uint32_t index) {
    const State& state = acceptor_.states[index];
    if (state.final_weight != std::numeric_limits<float>::infinity()) {
      if (words_.size() == most_words_) refuse("they are too many");
      if (path_.size() > symbols_left_) refuse("they are too long");
      symbols_left_ -= path_.size();
      words_.push_back(path_);
    }
    if (path_.size() == kLongest && state.arc_count != 0) refuse("one has no end");
    for (std::uint32_t arc = state.first_arc; arc < state.first_arc + state.arc_count; ++arc) {
      path_.push_back(static_cast<Symbol>(acceptor_.arcs[arc].input));
      follow(static_cast<std::uint32_t>(acceptor_.arcs[arc].next_state));
      path_.pop_back();
    }
  }

  const Acceptor& acceptor_;
  const std::size_t most_words_;
  std::size_t symbols_left_;
  std::vector<Symbol> path_;
  std::vector<std::vector<Symbol>> words_;
};

// Builds the smallest acceptor from the ends of the words: states that accept the same endings are merged.
class Minimizer {
 public:
  explicit Minimizer(const std::vector<std::vector<Symbol>>& words) : words_(words) {}

  Acceptor build() {
    const std::uint32_t start = add({0, words_.size(), 0});
    return {start, std::move(states_), std::move(arcs_)};
  }

 private:
  // The words [begin, end) share their first `depth` symbols.
  struct Range {
    std::size_t begin, end, depth;
  };
  using Signature = std::vector<std::uint32_t>;  // whether a word ends here, and for each arc its symbol and next state

  std::uint32_t add(Range range) {
    if (range.depth > kLongest) throw Error("a word has more than " + std::to_string(kLongest) + " symbols");
    Signature signature{words_[range.begin].size() == range.depth};
    if (signature[0]) ++range.begin;
    while (range.begin < range.end) {
      const Symbol symbol = words_[range.begin][range.depth];
      std::size_t next = range.begin + 1;
      while (next < range.end && words_[next][range.depth] == symbol) ++next;
      signature.push_back(symbol);
      signature.push_back(add({range.begin, next, range.depth + 1}));
      range.begin = next;
    }
    const auto known = known_.find(signature);
    return known != known_.end() ? known->second : add_state(std::move(signature));
  }

  std::uint32_t add_state(Signature signature) {
    const auto state = static_cast<std::uint32_t>(states_.size());
    const float weight = signature[0] ? 0 : std::numeric_limits<float>::infinity();
    const auto arc_count = static_cast<std::uint32_t>(signature.size() / 2);
    states_.push_back({weight, static_cast<std::uint32_t>(arcs_.size()), arc_count, 0, 0});
    for (std::size_t at = 1; at < signature.size(); at += 2) {
      const auto symbol = static_cast<std::int32_t>(signature[at]);
      arcs_.push_back({symbol, symbol, 0, static_cast<std::int32_t>(signature[at + 1])});
    }
    known_.emplace(std::move(signature), state);
    return state;
  }

  const std::vector<std::vector<Symbol>>& words_;
  std::map<Signature, std::uint32_t> known_;
  std::vector<State> states_;
  std::vector<Arc> arcs_;
};

template <class Value>
void write(NewFile& file, Value value) {
  file.write(&value, sizeof(value));
}

void write_text(NewFile& file, const char* text) {
  write(file, static_cast<std::int32_t>(std::strlen(text)));
  file.write(text, std::strlen(text));
}

template <class Record>
void write_array(NewFile& file, const std::vector<Record>& records) {
  const char zeros[kAlignment] = {};
  file.write(zeros, (kAlignment - file.position() % kAlignment) % kAlignment);
  file.write(records.data(), records.size() * sizeof(Record));
}

}  // namespace

std::vector<std::vector<Symbol>> read_acceptor(const FileContent& file, std::size_t offset, std::size_t most_words) {
  Reader reader(file, offset);
  if (reader.read<std::int32_t>() != kMagic || !reader.read_text(kType) || !reader.read_text(kArcType)) {
    refuse("they are not an OpenFst acceptor of type 'const'");
  }
  const auto version = reader.read<std::int32_t>();
  const auto flags = reader.read<std::int32_t>();
  if (version != kAlignedVersion || flags != kAlignedFlag) refuse("the acceptor has another version");
  reader.read<std::uint64_t>();  // properties
  const auto start = reader.read<std::int64_t>();
  const auto state_count = reader.read<std::int64_t>();
  const auto arc_count = reader.read<std::int64_t>();
  if (state_count <= 0 || arc_count < 0 || start < 0 || start >= state_count) refuse("the acceptor has no start");
  Acceptor acceptor{static_cast<std::uint32_t>(start), {}, {}};
  acceptor.states = reader.read_array<State>(static_cast<std::uint64_t>(state_count));
  acceptor.arcs = reader.read_array<Arc>(static_cast<std::uint64_t>(arc_count));
  check(acceptor);
  return Lister(acceptor, most_words).list();
}

void write_acceptor(NewFile& file, const std::vector<std::vector<Symbol>>& words) {
  const Acceptor acceptor = Minimizer(words).build();
  write(file, kMagic);
  write_text(file, kType);
  write_text(file, kArcType);
  write(file, kAlignedVersion);
  write(file, kAlignedFlag);
  write(file, kProperties);
  write(file, static_cast<std::int64_t>(acceptor.start));
  write(file, static_cast<std::int64_t>(acceptor.states.size()));
  write(file, static_cast<std::int64_t>(acceptor.arcs.size()));
  write_array(file, acceptor.states);
  write_array(file, acceptor.arcs);
}

}  // namespace ctc
