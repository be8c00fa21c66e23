// The way from the root of a tree to one of its nodes, whose values are asked for again and again as the tree grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ctc {

// Numbers of nodes are those of an array in which parents come before their children. So a way to another node costs
// only the nodes that it does not have in common with the last one.
class Path {
 public:
  // The values of the nodes between `root`, which is left out, and `node`, from the root on. `parent_of` and `value_of`
  // are called for the nodes that the last path did not have.
  template <class ParentOf, class ValueOf>
  const std::vector<std::uint32_t>& to(std::uint32_t node, std::uint32_t root, ParentOf parent_of, ValueOf value_of) {
    std::vector<std::uint32_t> others;
    for (; node != root; node = parent_of(node)) {
      while (!nodes_.empty() && nodes_.back() > node) nodes_.pop_back();
      if (!nodes_.empty() && nodes_.back() == node) break;
      others.push_back(node);
    }
    if (node == root) nodes_.clear();
    values_.resize(nodes_.size());
    nodes_.insert(nodes_.end(), others.rbegin(), others.rend());
    for (std::size_t place = values_.size(); place < nodes_.size(); ++place) values_.push_back(value_of(nodes_[place]));
    return values_;
  }

  // Takes the new numbers of nodes; those that `is_removed` are forgotten.
  void renumber(const std::vector<std::uint32_t>& numbers, std::uint32_t is_removed) {
    const auto removed = [&](std::uint32_t node) { return numbers[node] == is_removed; };
    nodes_.erase(std::find_if(nodes_.begin(), nodes_.end(), removed), nodes_.end());
    values_.resize(nodes_.size());
    for (std::uint32_t& node : nodes_) node = numbers[node];
  }

 private:
  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> values_;
};

}  // namespace ctc
