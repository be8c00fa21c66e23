#include "c_api/graph/frozen_graph.h"

#include <algorithm>
#include <cstring>

#include "c_api/failure.h"
#include "shared/utf8.h"

namespace speech {
namespace {

// TensorFlow's numbers for the types that are read here.
enum Type { kFloat = 1, kInt32 = 3, kString = 7 };

// Numbers of the fields of AttrValue.
enum AttributeKind { kBytesValue = 2, kFloatValue = 4, kTypeValue = 6, kShapeValue = 7, kTensorValue = 8 };

constexpr std::size_t kLargestListed = std::size_t{1} << 22;  // the most values of a constant without `tensor_content`
constexpr std::int64_t kLargestShape = std::int64_t{1} << 40;
constexpr std::size_t kMostDimensions = 8;
constexpr char kMappedGraph[] = "memmapped_package://.";

[[noreturn]] void refuse(const std::string& why) { throw Failure(DS_ERR_FAIL_READ_PROTOBUF, why); }

std::string text_of(const Field& field) {
  const std::string_view bytes = field.as_bytes();
  if (!shared::is_utf8(bytes)) refuse("is not a graph, as its names are not text");
  return std::string(bytes);
}

// The number of values of a shape; refuses impossible shapes.
std::size_t count_of(const std::string& name, const Shape& shape) {
  std::int64_t bound = 1, count = 1;
  bool possible = shape.size() <= kMostDimensions;
  for (const std::int64_t size : shape) {
    possible = possible && size >= 0 && std::max<std::int64_t>(size, 1) <= kLargestShape / bound;
    if (!possible) refuse("its constant " + name + " has an impossible shape");
    bound *= std::max<std::int64_t>(size, 1);
    count *= size;
  }
  if (!possible) refuse("its constant " + name + " has an impossible shape");
  return static_cast<std::size_t>(count);
}

}  // namespace

// A constant whose values are not read yet.
struct FrozenGraph::Tensor {
  std::string name;
  std::int64_t type = 0;
  Shape shape;
  std::optional<std::string_view> content;
  std::vector<std::string_view> floats;
  std::vector<Field> integers;
  std::vector<std::string_view> strings;
};

std::string in_words(const Shape& shape) {
  std::string words = "[";
  for (const std::int64_t size : shape) words += (words.size() > 1 ? ", " : "") + std::to_string(size);
  return words + "]";
}

FrozenGraph::FrozenGraph(const std::string& path) : file_(path) {
  const std::string_view file(file_.data(), file_.size());
  if (file.empty()) refuse("is empty");
  read_regions(file);
  const auto mapped = regions_.find(kMappedGraph);
  FieldReader reader(mapped == regions_.end() ? file : mapped->second, budget_);
  for (Field field; reader.next(field);) {
    if (field.number == 1) read_node(field.as_bytes());  // node
  }
  if (nodes_.empty()) refuse("holds no graph");
}

const Node* FrozenGraph::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &nodes_[found->second];
}

Shape FrozenGraph::shape_attribute(const Node& node) const {
  const auto field = attribute(node, "shape", kShapeValue);
  return field ? read_shape(field->as_bytes()) : Shape{};
}

float FrozenGraph::float_attribute(const Node& node, const std::string& name, float absent) const {
  const auto field = attribute(node, name, kFloatValue);
  return field ? field->as_float() : absent;
}

Shape FrozenGraph::shape_of(const std::string& name) const {
  const Node& node = constant(name);
  Shape shape = node.op == "ImmutableConst" ? shape_attribute(node) : tensor_of(node).shape;
  count_of(name, shape);
  return shape;
}

std::vector<float> FrozenGraph::floats(const std::string& name, const Shape& shape) const {
  const Tensor tensor = tensor_of(constant(name));
  if (tensor.type != kFloat) refuse("its weights " + name + " are not 32-bit floating-point numbers");
  if (tensor.shape != shape) {
    throw Failure(DS_ERR_INVALID_SHAPE, "its layers do not fit together: " + name + " has shape " +
                                            in_words(tensor.shape) + " instead of " + in_words(shape));
  }
  return values<float>(tensor, kFloat);
}

std::optional<float> FrozenGraph::single_float(const std::string& name) const {
  const Node* const node = find(name);
  if (!node || !node->is_constant()) return std::nullopt;
  const Tensor tensor = tensor_of(*node);
  if (tensor.type != kFloat || count_of(name, tensor.shape) != 1) return std::nullopt;
  return values<float>(tensor, kFloat)[0];
}

std::int64_t FrozenGraph::integer(const std::string& name, std::int64_t absent, std::int64_t lowest,
                                  std::int64_t highest) const {
  std::int64_t number = absent;
  if (has(name)) {
    const Tensor tensor = tensor_of(constant(name));
    if (tensor.type != kInt32 || count_of(name, tensor.shape) != 1) refuse("its " + name + " is not a number");
    number = values<std::int32_t>(tensor, kInt32)[0];
  }
  if (number < lowest || number > highest) {
    throw Failure(DS_ERR_MODEL_INCOMPATIBLE, "its " + name + " is " + std::to_string(number) + ", not a number from " +
                                                 std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return number;
}

std::string FrozenGraph::text(const std::string& name) const {
  const Tensor tensor = tensor_of(constant(name));
  if (tensor.type != kString || tensor.strings.empty()) refuse("its " + name + " is not text");
  return std::string(tensor.strings[0]);
}

// The named regions of a memory-mapped file, from the directory at its end; none for any other file.
void FrozenGraph::read_regions(std::string_view file) {
  std::uint64_t start = 0;
  if (file.size() <= sizeof start) return;
  const std::size_t end = file.size() - sizeof start;
  std::memcpy(&start, file.data() + end, sizeof start);
  if (start == 0 || start >= end) return;
  FieldBudget budget;
  try {
    FieldReader directory(file.substr(start, end - start), budget);
    for (Field element; directory.next(element);) {
      if (element.number != 1) continue;  // element
      std::uint64_t offset = 0, length = file.size();
      std::string name;
      FieldReader parts(element.as_bytes(), budget);
      for (Field part; parts.next(part);) {
        if (part.number == 1) offset = static_cast<std::uint64_t>(part.as_integer());
        if (part.number == 2) name = text_of(part);
        if (part.number == 3) length = static_cast<std::uint64_t>(part.as_integer());
      }
      if (offset < file.size()) regions_[name] = file.substr(offset, length);
    }
  } catch (const Failure&) {
    regions_.clear();
  }
  if (regions_.count(kMappedGraph) == 0) regions_.clear();
}

void FrozenGraph::read_node(std::string_view message) {
  Node node;
  FieldReader reader(message, budget_);
  for (Field field; reader.next(field);) {
    if (field.number == 1) node.name = text_of(field);
    if (field.number == 2) node.op = text_of(field);
    if (field.number == 3) node.inputs.push_back(text_of(field));
    if (field.number != 5) continue;  // attr, a map
    std::string name;
    std::string_view value;
    FieldReader entry(field.as_bytes(), budget_);
    for (Field part; entry.next(part);) {
      if (part.number == 1) name = text_of(part);
      if (part.number == 2) value = part.as_bytes();
    }
    node.attributes[name] = value;
  }
  const auto [place, is_new] = places_.emplace(node.name, nodes_.size());
  if (is_new) {
    nodes_.push_back(std::move(node));
  } else {
    nodes_[place->second] = std::move(node);
  }
}

// The last field of this kind in an attribute.
std::optional<Field> FrozenGraph::attribute(const Node& node, const std::string& name, std::uint64_t kind) const {
  std::optional<Field> found;
  const auto attribute = node.attributes.find(name);
  if (attribute == node.attributes.end()) return found;
  FieldReader reader(attribute->second, budget_);
  for (Field field; reader.next(field);) {
    if (field.number == kind) found = field;
  }
  return found;
}

const Node& FrozenGraph::constant(const std::string& name) const {
  const Node* const node = find(name);
  if (!node) refuse("it has no node " + name);
  if (!node->is_constant()) refuse("its node " + name + " is not a constant");
  return *node;
}

FrozenGraph::Tensor FrozenGraph::tensor_of(const Node& node) const {
  Tensor tensor;
  tensor.name = node.name;
  if (node.op == "ImmutableConst") {
    const auto region = attribute(node, "memory_region_name", kBytesValue), type = attribute(node, "dtype", kTypeValue);
    const auto found = regions_.find(region ? std::string(region->as_bytes()) : "");
    if (found == regions_.end() || !type) refuse("its constant " + node.name + " is not in the file");
    tensor.type = type->as_integer();
    tensor.shape = shape_attribute(node);
    tensor.content = found->second;
    return tensor;
  }
  const auto value = attribute(node, "value", kTensorValue);
  if (!value) refuse("its constant " + node.name + " has no value");
  FieldReader reader(value->as_bytes(), budget_);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case 1: tensor.type = field.as_integer(); break;                // dtype
      case 2: tensor.shape = read_shape(field.as_bytes()); break;     // tensor_shape
      case 4: tensor.content = field.as_bytes(); break;               // tensor_content
      case 5: tensor.floats.push_back(field.as_bytes()); break;       // float_val
      case 7: tensor.integers.push_back(field); break;                // int_val
      case 8: tensor.strings.push_back(field.as_bytes()); break;      // string_val
      default: break;
    }
  }
  return tensor;
}

Shape FrozenGraph::read_shape(std::string_view message) const {
  Shape shape;
  FieldReader reader(message, budget_);
  for (Field field; reader.next(field);) {
    if (field.number != 2) continue;  // dim
    shape.push_back(0);
    FieldReader dimension(field.as_bytes(), budget_);
    for (Field part; dimension.next(part);) {
      if (part.number == 1) shape.back() = part.as_integer();  // size
    }
  }
  return shape;
}

template <class Number>
std::vector<Number> FrozenGraph::values(const Tensor& tensor, std::int64_t kind) const {
  const std::size_t count = count_of(tensor.name, tensor.shape);
  if (tensor.content) {
    if (tensor.content->size() / sizeof(Number) < count) refuse("its constant " + tensor.name + " is truncated");
    std::vector<Number> values(count);
    if (count > 0) std::memcpy(values.data(), tensor.content->data(), count * sizeof(Number));
    return values;
  }
  if (count > kLargestListed) refuse("its constant " + tensor.name + " has an impossible shape");
  std::vector<Number> values;
  if (kind == kFloat) {
    std::string listed;
    for (const std::string_view part : tensor.floats) listed += part;
    if (listed.size() % sizeof(Number) != 0) refuse("its constant " + tensor.name + " is truncated");
    values.resize(std::min(count, listed.size() / sizeof(Number)));
    if (!values.empty()) std::memcpy(values.data(), listed.data(), values.size() * sizeof(Number));
  } else {
    for (const Field& field : tensor.integers) {
      if (field.is_varint && values.size() < count) values.push_back(static_cast<Number>(field.varint));
      for (std::string_view packed = field.bytes; !packed.empty() && values.size() < count;) {
        values.push_back(static_cast<Number>(take_varint(packed)));
      }
    }
  }
  // Omitted values are equal to the last one that is listed.
  values.resize(count, values.empty() ? Number{} : values.back());
  return values;
}

}  // namespace speech
