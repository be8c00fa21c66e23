#include "c_api/recognition/scripts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace speech {
namespace {

using Range = std::pair<char32_t, char32_t>;

constexpr Range kWithoutSpaces[] = {
    {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x3005, 0x3007},   {0x3041, 0x30FF},
    {0x3400, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF},
};

// Unicode's category M, for these scripts and for marks of any script.
constexpr Range kMarks[] = {
    {0x0300, 0x036F}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x0EB1, 0x0EB1}, {0x0EB4, 0x0EBC},
    {0x0EC8, 0x0ECE}, {0x102B, 0x103E}, {0x1056, 0x1059}, {0x105E, 0x1060}, {0x1062, 0x1064}, {0x1067, 0x106D},
    {0x1071, 0x1074}, {0x1082, 0x108D}, {0x108F, 0x108F}, {0x109A, 0x109D}, {0x17B4, 0x17D3}, {0x17DD, 0x17DD},
    {0x302A, 0x302F}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xE0100, 0xE01EF},
};

template <class Ranges>
bool is_in(const Ranges& ranges, char32_t character) {
  return std::any_of(std::begin(ranges), std::end(ranges), [character](const Range& range) {
    return range.first <= character && character <= range.second;
  });
}

}  // namespace

bool written_without_spaces(char32_t character) { return is_in(kWithoutSpaces, character); }

bool is_mark(char32_t character) { return is_in(kMarks, character); }

}  // namespace speech
