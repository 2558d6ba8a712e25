// The digits of large integers, for std::to_chars. The C++ library has tables of 104 kB for them,
// which hardly compress, because it can also write any number with any precision.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

_LIBCPP_BEGIN_NAMESPACE_STD

// Writes an integer without a fraction. The emulator's sources use only the shortest notation,
// which writes an integer of more than 22 digits with an exponent.
to_chars_result __d2fixed_buffered_n(char* first, char* last, double integer, uint32_t) {
  char digits[40];
  char* begin = std::end(digits);
  auto rest = static_cast<unsigned __int128>(integer);
  do *--begin = static_cast<char>('0' + static_cast<int>(rest % 10));
  while ((rest /= 10) > 0);
  if (last - first < std::end(digits) - begin) return {last, errc::value_too_large};
  return {std::copy(begin, std::end(digits), first), errc{}};
}

_LIBCPP_END_NAMESPACE_STD
