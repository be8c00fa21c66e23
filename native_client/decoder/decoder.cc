#include "decoder/decoder.h"

#include <exception>

#include "shared/error.h"
#include "shared/threads.h"

namespace ctc {

Decoder::Decoder(Labels labels, DecoderOptions options, std::shared_ptr<const Scorer> scorer)
    : context_(std::move(labels), std::move(options), std::move(scorer)) {}

void Decoder::check_columns(const Posteriors& posteriors) const {
  const std::size_t wanted = context_.labels.column_count() + 1;
  if (posteriors.columns == wanted) return;
  throw Error("the posteriors have " + std::to_string(posteriors.columns) + " columns, but " +
              std::to_string(wanted - 1) + " labels and the blank make " + std::to_string(wanted));
}

std::vector<Result> Decoder::decode(const Posteriors& posteriors) const {
  check_columns(posteriors);
  const std::unique_ptr<Search> search = Search::create(context_);
  std::vector<float> logarithms;
  for (std::size_t frame = 0; frame < posteriors.frames; ++frame) {
    posteriors.read_frame(frame, logarithms);
    search->step(logarithms);
  }
  return search->results(true, context_.options.result_count);
}

std::vector<std::vector<Result>> Decoder::decode_batch(const std::vector<Posteriors>& utterances,
                                                       std::size_t threads) const {
  std::vector<std::vector<Result>> results(utterances.size());
  std::vector<std::exception_ptr> errors(utterances.size());
  shared::share_out(utterances.size(), threads ? threads : shared::usable_cores(), [&](std::size_t index) {
    try {
      results[index] = decode(utterances[index]);
    } catch (const Error& error) {
      errors[index] = std::make_exception_ptr(Error("utterance " + std::to_string(index) + ": " + error.what()));
    } catch (...) {
      errors[index] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return results;
}

Stream::Stream(std::shared_ptr<const Decoder> decoder)
    : decoder_(std::move(decoder)), search_(Search::create(decoder_->context_)) {}

std::vector<Result> Stream::results(bool complete, std::size_t count) const {
  const std::lock_guard lock(in_use_);
  return search_->results(complete, count > 0 ? count : decoder_->context_.options.result_count);
}

std::size_t Stream::frames() const {
  const std::lock_guard lock(in_use_);
  return frames_;
}

void Stream::feed(const Posteriors& posteriors) {
  decoder_->check_columns(posteriors);
  const std::lock_guard lock(in_use_);
  std::vector<std::vector<float>> checked(posteriors.frames);
  for (std::size_t frame = 0; frame < posteriors.frames; ++frame) {
    posteriors.read_frame(frame, checked[frame], frames_);
  }
  for (const std::vector<float>& logarithms : checked) search_->step(logarithms);
  frames_ += posteriors.frames;
}

}  // namespace ctc
