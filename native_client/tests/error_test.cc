// Messages of errors: one line that can be printed and is not too long.
#include "shared/error.h"

#include <string>

#include "testing.h"

namespace {

TEST(a_message_shows_what_controls_the_terminal_or_is_no_utf8) {
  CHECK(ctc::printable("grüße\x1b[2J\xff\n") == "grüße\\x1b[2J\\xff\\x0a");
  CHECK(ctc::printable(std::string("a\0b", 3)) == "a\\x00b");
}

TEST(a_message_that_is_too_long_is_cut_between_characters_and_stays_as_it_is_in_another) {
  for (const std::string character : {"a", "\x01", "ü", "\xff"}) {
    for (std::size_t before = 0; before < 5; ++before) {
      std::string text(before, 'b');
      while (text.size() < 5000) text += character;
      const std::string message = ctc::printable(text);
      CHECK(message.size() <= 2000 && message.size() > 1990);
      CHECK(message.substr(message.size() - 3) == "...");
      CHECK(ctc::printable(message) == message);
    }
  }
  CHECK(ctc::printable(std::string(2000, 'a')) == std::string(2000, 'a'));
}

}  // namespace
