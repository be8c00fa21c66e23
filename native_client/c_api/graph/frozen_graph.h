// Reading frozen TensorFlow graphs, `.pb` and memory-mapped `.pbmm`, without TensorFlow: nodes and constants.
//
// Messages: GraphDef, NodeDef, AttrValue, TensorProto, TensorShapeProto and MemmappedFileSystemDirectory of TensorFlow's
// `core/framework` and `core/util`. The time and memory that a damaged or hostile file can take are bounded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "c_api/graph/protobuf.h"
#include "language_model/files.h"

namespace speech {

using Shape = std::vector<std::int64_t>;

// "[1, 16, 19, 26]"
std::string in_words(const Shape& shape);

struct Node {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;
  std::unordered_map<std::string, std::string_view> attributes;

  bool is_constant() const { return op == "Const" || op == "ImmutableConst"; }
};

// All functions throw Failure for damaged data; messages do not name the file.
class FrozenGraph {
 public:
  explicit FrozenGraph(const std::string& path);

  std::size_t file_size() const { return file_.size(); }

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node* find(const std::string& name) const;
  bool has(const std::string& name) const { return find(name) != nullptr; }

  // A shape attribute of a node, with -1 for unknown dimensions; empty if the node does not have it.
  Shape shape_attribute(const Node& node) const;
  float float_attribute(const Node& node, const std::string& name, float absent) const;

  // The shape that a constant declares; its values are not read.
  Shape shape_of(const std::string& name) const;

  // The values of a constant, which must be 32-bit floating-point numbers of this shape.
  std::vector<float> floats(const std::string& name, const Shape& shape) const;

  // The value of a constant that is one number; nothing if it is anything else.
  std::optional<float> single_float(const std::string& name) const;

  // The number of a constant, or `absent` if there is no such constant. It must be from `lowest` to `highest`.
  std::int64_t integer(const std::string& name, std::int64_t absent, std::int64_t lowest, std::int64_t highest) const;

  // The first of the texts of a constant.
  std::string text(const std::string& name) const;

 private:
  struct Tensor;

  void read_regions(std::string_view file);
  void read_node(std::string_view message);
  std::optional<Field> attribute(const Node& node, const std::string& name, std::uint64_t kind) const;
  const Node& constant(const std::string& name) const;
  Tensor tensor_of(const Node& node) const;
  Shape read_shape(std::string_view message) const;
  template <class Number>
  std::vector<Number> values(const Tensor& tensor, std::int64_t kind) const;

  ctc::FileContent file_;
  mutable FieldBudget budget_;
  std::map<std::string, std::string_view> regions_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace speech
