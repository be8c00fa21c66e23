// A small test framework: TEST(name) { CHECK(...); }, run one after the other by run_tests().
#pragma once

#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace testing {

inline std::vector<std::pair<std::string, std::function<void()>>>& tests() {
  static std::vector<std::pair<std::string, std::function<void()>>> all;
  return all;
}

struct Registration {
  Registration(const char* name, std::function<void()> test) { tests().emplace_back(name, std::move(test)); }
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& what) {
  std::ostringstream message;
  message << file << ":" << line << ": " << what;
  throw std::runtime_error(message.str());
}

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Returns the exit code of the program.
inline int run_tests() {
  int failed = 0;
  for (const auto& [name, test] : tests()) {
    try {
      test();
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %s: %s\n", name.c_str(), error.what());
    }
  }
  std::printf("%zu passed, %d failed\n", tests().size() - static_cast<std::size_t>(failed), failed);
  return failed != 0;
}

}  // namespace testing

#define TEST(name)                                                   \
  static void name();                                                \
  static const testing::Registration name##_registration(#name, name); \
  static void name()

#define CHECK(condition) \
  if (!(condition)) testing::fail(__FILE__, __LINE__, #condition)

#define CHECK_NEAR(a, b, tolerance)                                                                       \
  if (!(std::abs((a) - (b)) <= (tolerance)))                                                              \
  testing::fail(__FILE__, __LINE__, #a " is " + std::to_string(a) + ", but " #b " is " + std::to_string(b))

#define CHECK_THROWS(action, part)                                                                      \
  if (const std::string message = testing::message_of([&] { action; }); message.find(part) == std::string::npos) \
  testing::fail(__FILE__, __LINE__, "expected an error with '" part "', but: " + message)
