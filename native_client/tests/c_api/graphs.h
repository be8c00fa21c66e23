// Exported graphs of tiny models, in TensorFlow's encoding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fixtures.h"

namespace graphs {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string number(std::uint64_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }

inline std::string bytes(std::uint64_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

inline std::string shape(const std::vector<std::uint64_t>& sizes) {
  std::string message;
  for (const std::uint64_t size : sizes) message += bytes(2, number(1, size));
  return message;
}

inline std::string attribute(const std::string& name, const std::string& value) {
  return bytes(5, bytes(1, name) + bytes(2, value));
}

inline std::string node(const std::string& name, const std::string& op, const std::string& rest) {
  return bytes(1, bytes(1, name) + bytes(2, op) + rest);
}

// A constant: a tensor of this type and shape, with the fields `values`.
inline std::string constant(const std::string& name, std::uint64_t type, const std::vector<std::uint64_t>& sizes,
                            const std::string& values) {
  return node(name, "Const", attribute("value", bytes(8, number(1, type) + bytes(2, shape(sizes)) + values)));
}

inline std::string floats(const std::string& name, const std::vector<std::uint64_t>& sizes,
                          const std::vector<float>& values) {
  return constant(name, 1, sizes, bytes(4, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}));
}

inline std::string integer(const std::string& name, std::uint64_t value) {
  return constant(name, 3, {1}, number(7, value));
}

inline std::string text(const std::string& name, const std::string& value) {
  return constant(name, 7, {1}, bytes(8, value));
}

inline std::string alphabet(const std::vector<std::string>& labels) {
  const auto two_bytes = [](std::size_t value) {
    return std::string{static_cast<char>(value & 0xFF), static_cast<char>(value >> 8)};
  };
  std::string data = two_bytes(labels.size());
  for (std::size_t index = 0; index < labels.size(); ++index) {
    data += two_bytes(index) + two_bytes(labels[index].size()) + labels[index];
  }
  return text("metadata_alphabet", data);
}

constexpr std::uint64_t kCoefficients = 5, kContext = 2, kUnits = 20, kLabels = 3;

// A model of random weights up to `scale` with the labels " ", "a" and "b", for 16-bit samples at 16 kHz.
inline std::string tiny_model(float scale = 1) {
  fixtures::Random random(7);
  const auto weights = [&](const std::string& name, const std::vector<std::uint64_t>& sizes) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : sizes) count *= size;
    return floats(name, sizes, fixtures::random_floats(random, count, scale));
  };
  const std::uint64_t window = 2 * kContext + 1;
  std::string graph = node("input_node", "Placeholder", attribute("shape", bytes(7, shape({1, 4, window, kCoefficients}))));
  std::uint64_t inputs = window * kCoefficients;
  for (const std::string layer : {"layer_1", "layer_2", "layer_3", "layer_5", "layer_6"}) {
    const std::uint64_t units = layer == "layer_6" ? kLabels + 1 : kUnits;
    graph += weights(layer + "/weights", {inputs, units}) + weights(layer + "/bias", {units});
    inputs = units;
  }
  const std::string lstm = "cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell";
  graph += weights(lstm + "/kernel", {2 * kUnits, 4 * kUnits}) + weights(lstm + "/bias", {4 * kUnits});
  graph += floats("limit", {}, {20}) + node("Minimum", "Minimum", bytes(3, "Relu") + bytes(3, "limit"));
  graph += node("BlockLSTM", "BlockLSTM", attribute("forget_bias", varint(4 << 3 | 5) + std::string(4, '\0')));
  graph += node("logits", "Softmax", bytes(3, "BiasAdd")) + integer("metadata_version", 6);
  graph += integer("metadata_sample_rate", 16000) + integer("metadata_beam_width", 30);
  return graph + alphabet({" ", "a", "b"}) + text("metadata_language", "xx");
}

// A network that describes itself, layer by layer.
class DescribedNetwork {
 public:
  explicit DescribedNetwork(std::uint64_t coefficients) : coefficients_(coefficients), width_(coefficients) {}

  // Adds a layer of a kind, whose settings are JSON, and its variables; `units` are the numbers of its outputs.
  DescribedNetwork& add(const std::string& kind, const std::string& settings, std::uint64_t units) {
    const std::string name = "layer_" + std::to_string(++layers_);
    described_ += std::string(layers_ > 1 ? ", " : "") + "{\"layer\": \"" + kind + "\", \"name\": \"" + name + "\"" +
                  (settings.empty() ? "" : ", " + settings) + "}";
    scope_ = name + "/";
    width_ = units;
    return *this;
  }

  // Adds a variable to the last layer.
  DescribedNetwork& with(const std::string& name, const std::vector<std::uint64_t>& sizes) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : sizes) count *= size;
    variables_ += floats(scope_ + name, sizes, fixtures::random_floats(random_, count, 1));
    return *this;
  }

  DescribedNetwork& dense(std::uint64_t units, const std::string& clip = "null") {
    const std::uint64_t inputs = width_;
    return add("Dense", sized("units", units) + ", \"clip\": " + clip, units).weights("", inputs, units);
  }
  DescribedNetwork& projection(std::uint64_t units) {
    const std::uint64_t inputs = width_;
    return add("Projection", sized("units", units), units).weights("", inputs, units);
  }
  DescribedNetwork& normalization() {
    return add("LayerNormalization", "", width_).normalized("");
  }
  DescribedNetwork& lstm(std::uint64_t units) {
    const std::uint64_t inputs = width_;
    return add("LSTM", sized("units", units), units).kernel("", inputs, units);
  }
  DescribedNetwork& bidirectional(std::uint64_t units) {
    return two_lstms("BidirectionalLSTM", sized("units", units), units);
  }
  DescribedNetwork& chunked(std::uint64_t units, std::uint64_t chunk, std::uint64_t offset = 0) {
    const std::string first = offset ? ", " + sized("offset", offset) : "";
    return two_lstms("ChunkedLSTM", sized("units", units) + ", " + sized("chunk", chunk) + first, units);
  }
  // A convolution of 3 frames and 3 frequencies.
  DescribedNetwork& convolution(std::uint64_t inputs, std::uint64_t channels, std::uint64_t stride) {
    const std::uint64_t frequencies = (width_ / inputs + 1) / 2;
    const std::string settings = sized("channels", channels) + ", " + sized("input_channels", inputs) +
                                 ", \"time\": 3, \"frequency\": 3, " + sized("time_stride", stride) +
                                 ", \"frequency_stride\": 2, \"clip\": 20.0";
    add("Convolution", settings, frequencies * channels);
    return with("kernel", {3, 3, inputs, channels}).with("bias", {channels});
  }

  // Layers of conformer blocks, which keep the width.
  DescribedNetwork& feed_forward(std::uint64_t units) {
    add("FeedForward", sized("units", units), width_).normalized("normalization/");
    return weights("inner/", width_, units).weights("outer/", units, width_);
  }
  DescribedNetwork& attention(std::uint64_t heads, std::uint64_t chunk, std::uint64_t left) {
    add("SelfAttention", sized("heads", heads) + ", " + sized("chunk", chunk) + ", " + sized("left", left), width_);
    return normalized("normalization/").weights("inner/", width_, 3 * width_).weights("outer/", width_, width_);
  }
  DescribedNetwork& convolution_module(std::uint64_t before, std::uint64_t after) {
    add("ConvolutionModule", sized("before", before) + ", " + sized("after", after), width_);
    normalized("normalization/").normalized("second_normalization/").weights("inner/", width_, 2 * width_);
    with("depthwise/kernel", {before + 1 + after, width_}).with("depthwise/bias", {width_});
    return weights("outer/", width_, width_);
  }

  // The graph, for the labels of `tiny_model` and features whose settings are JSON.
  std::string graph(const std::string& features) const {
    std::string all = node("input_node", "Placeholder",
                           attribute("shape", bytes(7, shape({1, 4, 1, coefficients_})))) + variables_;
    all += node("logits", "Softmax", bytes(3, "BiasAdd")) + integer("metadata_version", 6);
    all += text("metadata_features", features);
    all += text("metadata_network", "{\"name\": \"tiny\", \"layers\": [" + described_ + "]}");
    return all + integer("metadata_beam_width", 30) + alphabet({" ", "a", "b"}) + text("metadata_language", "xx");
  }

 private:
  static std::string sized(const std::string& setting, std::uint64_t size) {
    return "\"" + setting + "\": " + std::to_string(size);
  }
  DescribedNetwork& weights(const std::string& part, std::uint64_t inputs, std::uint64_t units) {
    return with(part + "weights", {inputs, units}).with(part + "bias", {units});
  }
  DescribedNetwork& normalized(const std::string& part) {
    return with(part + "scale", {width_}).with(part + "offset", {width_});
  }
  DescribedNetwork& kernel(const std::string& part, std::uint64_t inputs, std::uint64_t units) {
    return with(part + "kernel", {inputs + units, 4 * units}).with(part + "bias", {4 * units});
  }
  DescribedNetwork& two_lstms(const std::string& kind, const std::string& settings, std::uint64_t units) {
    const std::uint64_t inputs = width_;
    return add(kind, settings, 2 * units).kernel("forward/", inputs, units).kernel("backward/", inputs, units);
  }

  fixtures::Random random_{5};
  std::uint64_t coefficients_, width_;
  int layers_ = 0;
  std::string described_, variables_, scope_;
};

// Settings of `fbank` with 6 filters at 16 kHz, and more of them in JSON; statistics for a normalization.
inline std::string fbank(const std::string& more = "") {
  return "{\"options\": {\"sample_rate\": 16000, \"feature_type\": \"fbank\", \"coefficients\": 6" +
         (more.empty() ? "" : ", " + more) +
         "}, \"statistics\": {\"mean\": [-1, 0, 1, 2.5e0, 3, 4], \"deviation\": [2, 2, 2, 2, 2, 2]}}";
}

// A memory-mapped file of a graph and one more constant, whose floats have a region of their own.
inline std::string memory_mapped(const std::string& graph, const std::string& name, std::uint64_t size,
                                 const std::vector<float>& values) {
  const std::string region = "memmapped_package://0", content(reinterpret_cast<const char*>(values.data()),
                                                              values.size() * sizeof(float));
  const std::string whole = graph + node(name, "ImmutableConst", attribute("memory_region_name", bytes(2, region)) +
                                                                     attribute("dtype", number(6, 1)) +
                                                                     attribute("shape", bytes(7, shape({size}))));
  const auto element = [](std::uint64_t offset, const std::string& named, std::uint64_t length) {
    return bytes(1, number(1, offset) + bytes(2, named) + number(3, length));
  };
  std::uint64_t start = content.size() + whole.size();
  return content + whole + element(0, region, content.size()) +
         element(content.size(), "memmapped_package://.", whole.size()) +
         std::string(reinterpret_cast<const char*>(&start), sizeof start);
}

}  // namespace graphs
