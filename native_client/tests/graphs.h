// Exported graphs of tiny models, written as TensorFlow does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fixtures.h"

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

// A constant that is the fields `values` of a tensor of this type and shape.
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

// A memory-mapped file of a graph, and of one constant more, whose floats are in a region of their own.
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
