// The decoder: posteriors in, transcripts out. One decoder may be used by several threads at once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "decoder/posteriors.h"
#include "decoder/search.h"
#include "decoder/search_context.h"

namespace ctc {

class Decoder {
 public:
  // `scorer` may be null. Throws Error if an option has a wrong value or the scorer was made for other labels.
  Decoder(Labels labels, DecoderOptions options, std::shared_ptr<const Scorer> scorer);

  // The best transcripts of one utterance, best first; without frames, the empty transcript. Throws Error if these are
  // not posteriors over the labels and the blank.
  std::vector<Result> decode(const Posteriors& posteriors) const;

  // The same for several utterances, on at most `threads` threads (0: one for each core that this process may use).
  // Errors name the utterance.
  std::vector<std::vector<Result>> decode_batch(const std::vector<Posteriors>& utterances, std::size_t threads) const;

 private:
  friend class Stream;
  void check_columns(const Posteriors& posteriors) const;

  const SearchContext context_;
};

// One utterance whose frames come bit by bit. Its results are those of the same frames in one piece. Threads may share
// one: each call waits until those of other threads are done.
class Stream {
 public:
  explicit Stream(std::shared_ptr<const Decoder> decoder);

  // Throws Error, and takes none of these frames, if they are not posteriors over the labels and the blank.
  void feed(const Posteriors& posteriors);

  // The `count` (0: result_count of the options) best transcripts so far; their last word may be unfinished.
  std::vector<Result> peek(std::size_t count = 0) const { return results(false, count); }

  // The same for the frames fed so far as a complete utterance.
  std::vector<Result> finish(std::size_t count = 0) const { return results(true, count); }

  std::size_t frames() const;

 private:
  std::vector<Result> results(bool complete, std::size_t count) const;

  mutable std::mutex in_use_;
  std::shared_ptr<const Decoder> decoder_;
  std::unique_ptr<Search> search_;
  std::size_t frames_ = 0;
};

}  // namespace ctc
