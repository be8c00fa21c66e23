// The Python module deepspeech._ctcdecoder; deepspeech/decoder/ documents its functions.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "decoder/decoder.h"
#include "language_model/trie_file.h"
#include "shared/error.h"
#include "shared/threads.h"

namespace py = pybind11;

namespace {

using ctc::Decoder;
using ctc::DecoderOptions;
using ctc::Error;
using ctc::Labels;
using ctc::Posteriors;
using ctc::Result;
using ctc::Scorer;
using ctc::Spell;
using ctc::Stream;
using ctc::Unit;

std::string shape_text(const py::array& array) { return py::str(py::object(array.attr("shape"))); }

bool is_double(const py::array& array) {
  if (py::isinstance<py::array_t<float>>(array)) return false;
  if (py::isinstance<py::array_t<double>>(array)) return true;
  throw Error("the posteriors are " + std::string(py::str(array.dtype())) + ", but must be float32 or float64");
}

// A view [frames, columns] of the last two dimensions; it copies nothing, so `array` must stay.
Posteriors view(const py::array& array, const void* data, std::size_t frames) {
  const py::ssize_t dimensions = array.ndim();
  return {data,
          is_double(array),
          frames,
          static_cast<std::size_t>(array.shape(dimensions - 1)),
          array.strides(dimensions - 2),
          array.strides(dimensions - 1)};
}

Posteriors view_utterance(const py::array& array) {
  if (array.ndim() != 2) {
    throw Error("the posteriors have shape " + shape_text(array) + ", but must be [time, labels + 1]");
  }
  return view(array, array.data(), static_cast<std::size_t>(array.shape(0)));
}

std::vector<Posteriors> view_batch(const py::array& array, const std::vector<py::ssize_t>& lengths) {
  if (array.ndim() != 3) {
    throw Error("the posteriors have shape " + shape_text(array) + ", but must be [batch, time, labels + 1]");
  }
  if (static_cast<py::ssize_t>(lengths.size()) != array.shape(0)) {
    throw Error("there are " + std::to_string(lengths.size()) + " lengths for " + std::to_string(array.shape(0)) +
                " utterances");
  }
  std::vector<Posteriors> utterances;
  const auto* data = static_cast<const char*>(array.data());
  for (std::size_t index = 0; index < lengths.size(); ++index) {
    if (lengths[index] < 0 || lengths[index] > array.shape(1)) {
      throw Error("utterance " + std::to_string(index) + " has length " + std::to_string(lengths[index]) +
                  ", but the posteriors have " + std::to_string(array.shape(1)) + " frames");
    }
    const auto offset = static_cast<py::ssize_t>(index) * array.strides(0);
    utterances.push_back(view(array, data + offset, static_cast<std::size_t>(lengths[index])));
  }
  return utterances;
}

void set_decoder_error(const char* message) {
  PyErr_SetString(py::module_::import("deepspeech.errors").attr("DecoderError").ptr(), message);
}

void translate_error(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const Error& error) {
    set_decoder_error(error.what());
  } catch (const std::bad_alloc&) {
    set_decoder_error("this needs more memory than there is");
  }
}

std::vector<Result> decode(const Decoder& decoder, const py::array& array) {
  const Posteriors posteriors = view_utterance(array);
  const py::gil_scoped_release release;
  return decoder.decode(posteriors);
}

std::vector<std::vector<Result>> decode_batch(const Decoder& decoder, const py::array& array,
                                              const std::vector<py::ssize_t>& lengths, std::size_t threads) {
  const std::vector<Posteriors> utterances = view_batch(array, lengths);
  const py::gil_scoped_release release;
  return decoder.decode_batch(utterances, threads);
}

void feed(Stream& stream, const py::array& array) {
  const Posteriors posteriors = view_utterance(array);
  const py::gil_scoped_release release;
  stream.feed(posteriors);
}

void bind_values(py::module_& module) {
  py::class_<Labels>(module, "Labels")
      .def(py::init<std::vector<std::string>, std::vector<ctc::Label>, std::size_t>(), py::arg("texts"),
           py::arg("columns"), py::arg("column_count"));
  py::class_<DecoderOptions>(module, "DecoderOptions")
      .def(py::init<>())
      .def_readwrite("beam_width", &DecoderOptions::beam_width)
      .def_readwrite("lm_weight", &DecoderOptions::lm_weight)
      .def_readwrite("valid_word_count_weight", &DecoderOptions::valid_word_count_weight)
      .def_readwrite("sentence_end", &DecoderOptions::sentence_end)
      .def_readwrite("cutoff_prob", &DecoderOptions::cutoff_prob)
      .def_readwrite("cutoff_top_n", &DecoderOptions::cutoff_top_n)
      .def_readwrite("score_threshold", &DecoderOptions::score_threshold)
      .def_readwrite("result_count", &DecoderOptions::result_count)
      .def_readwrite("unknown_word_score", &DecoderOptions::unknown_word_score)
      .def_readwrite("hot_words", &DecoderOptions::hot_words);
  py::class_<Result>(module, "Result")
      .def_readonly("labels", &Result::labels)
      .def_readonly("frames", &Result::frames)
      .def_readonly("score", &Result::score)
      .def_readonly("acoustic_score", &Result::acoustic_score)
      .def_readonly("lm_score", &Result::lm_score);
}

std::shared_ptr<Scorer> load_scorer(const Labels& labels, const std::string& path, bool characters, Spell spell) {
  const py::gil_scoped_release release;
  return std::make_shared<Scorer>(labels, path, characters ? Unit::kCharacter : Unit::kWord, std::move(spell));
}

std::shared_ptr<Scorer> load_scorer_with_trie(const Labels& labels, const std::string& path,
                                              const std::string& trie_path, Spell spell) {
  const py::gil_scoped_release release;
  return std::make_shared<Scorer>(labels, path, trie_path, std::move(spell));
}

void write_trie(const Scorer& scorer, const std::string& path) {
  const py::gil_scoped_release release;
  ctc::write_trie_file(path, scorer.trie(), scorer.labels(), scorer.language_model(), scorer.unit());
}

void write_package(const Scorer& scorer, const std::string& path, double lm_weight, double valid_word_count_weight) {
  const py::gil_scoped_release release;
  ctc::write_package(path, scorer.language_model().path(), scorer.trie(), scorer.labels(), scorer.unit(),
                     {lm_weight, valid_word_count_weight});
}

std::optional<std::pair<double, double>> package_defaults(const Scorer& scorer) {
  const auto& defaults = scorer.package_defaults();
  if (!defaults) return std::nullopt;
  return std::pair(defaults->lm_weight, defaults->valid_word_count_weight);
}

std::tuple<std::size_t, std::size_t, py::bytes> unspelled_words(const Scorer& scorer) {
  const ctc::UnspelledWords unspelled = scorer.unspelled_words();
  return {unspelled.count, unspelled.of, py::bytes(unspelled.example)};
}

void bind_scorer(py::module_& module) {
  py::class_<Scorer, std::shared_ptr<Scorer>>(module, "Scorer")
      .def(py::init(&load_scorer), py::arg("labels"), py::arg("language_model_path"), py::arg("characters"),
           py::arg("spell").none(true))
      .def(py::init(&load_scorer_with_trie), py::arg("labels"), py::arg("language_model_path"), py::arg("trie_path"),
           py::arg("spell").none(true))
      .def("can_spell", &Scorer::can_spell, py::arg("text"))
      .def("write_trie", write_trie, py::arg("path"))
      .def("write_package", write_package, py::arg("path"), py::arg("lm_weight"), py::arg("valid_word_count_weight"))
      .def("unspelled_words", unspelled_words)
      .def_property_readonly("package_defaults", package_defaults)
      .def_property_readonly("characters", [](const Scorer& scorer) { return scorer.unit() == Unit::kCharacter; });
}

void bind_decoder(py::module_& module) {
  py::class_<Decoder, std::shared_ptr<Decoder>>(module, "Decoder")
      .def(py::init([](const Labels& labels, DecoderOptions options, std::shared_ptr<Scorer> scorer) {
             return std::make_shared<Decoder>(labels, std::move(options), std::move(scorer));
           }),
           py::arg("labels"), py::arg("options"), py::arg("scorer").none(true))
      .def("decode", decode, py::arg("posteriors"))
      .def("decode_batch", decode_batch, py::arg("posteriors"), py::arg("lengths"), py::arg("threads"));
  py::class_<Stream>(module, "Stream")
      .def(py::init([](std::shared_ptr<Decoder> decoder) { return std::make_unique<Stream>(std::move(decoder)); }),
           py::arg("decoder"))
      .def("feed", feed, py::arg("posteriors"))
      .def("peek", &Stream::peek, py::arg("count") = 0, py::call_guard<py::gil_scoped_release>())
      .def("finish", &Stream::finish, py::arg("count") = 0, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("frames", &Stream::frames);
}

}  // namespace

PYBIND11_MODULE(_ctcdecoder, module) {
  py::register_exception_translator(translate_error);
  module.def("usable_cores", shared::usable_cores);
  module.def("processor_limit", shared::processor_limit);
  bind_values(module);
  bind_scorer(module);
  bind_decoder(module);
}
