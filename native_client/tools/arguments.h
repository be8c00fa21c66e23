// Command lines of the form "--name value", for the small programs that come with the library.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "shared/error.h"

namespace ctc {

class Arguments {
 public:
  // Throws Error if an argument is not one of `names` (each with its "--") with a value.
  Arguments(int count, char** arguments, const std::vector<std::string>& names) {
    for (int index = 1; index < count; index += 2) {
      const std::string name = arguments[index];
      bool known = false;
      for (const std::string& candidate : names) known = known || candidate == name;
      if (!known) throw Error("unknown argument " + name);
      if (index + 1 == count) throw Error(name + " needs a value");
      values_[name] = arguments[index + 1];
    }
  }

  std::string required(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw Error(name + " is missing");
    return found->second;
  }

  std::string optional(const std::string& name, const std::string& otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }

  double number(const std::string& name, double otherwise) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return otherwise;
    try {
      std::size_t end = 0;
      const double value = std::stod(found->second, &end);
      if (end == found->second.size()) return value;
    } catch (const std::exception&) {
    }
    throw Error(name + " is '" + found->second + "', but must be a number");
  }

 private:
  std::map<std::string, std::string> values_;
};

// The labels of an alphabet file: one a line, "#" begins a comment, "\#" is a hash, "\\#" a backslash before one. Without
// a path: UTF-8 bytes.
inline std::vector<std::string> read_alphabet(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) {
    for (int byte = 1; byte < 256; ++byte) labels.emplace_back(1, static_cast<char>(byte));
    return labels;
  }
  std::ifstream file(path);
  if (!file) throw Error(path + " cannot be opened");
  bool is_first = true;
  for (std::string line; std::getline(file, line); is_first = false) {
    if (is_first && line.rfind("\xEF\xBB\xBF", 0) == 0) line.erase(0, 3);  // byte order mark
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    const std::size_t escaped = line.find_first_not_of('\\');
    labels.push_back(escaped != std::string::npos && line[escaped] == '#' ? line.substr(1) : line);
  }
  return labels;
}

// Runs `program`; if it throws an error, prints the error and the usage. Returns the exit code.
template <class Program>
int run(const char* usage, Program program) {
  try {
    program();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), usage);
    return 1;
  }
}

}  // namespace ctc
