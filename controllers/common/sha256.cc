#include "common/sha256.hh"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kneepoint {

namespace {

constexpr size_t block_bytes = 64;

// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr std::array<uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

// Section 5.3.3: the first 32 bits of the fractional parts of the square roots of the first 8
// primes.
constexpr State initial_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

uint32_t read_word(std::string_view block, size_t index) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<uint8_t>(block[4 * index + i]);
  return word;
}

// Section 6.2.2.
void add_block(State& state, std::string_view block) {
  std::array<uint32_t, 64> words;
  for (size_t t = 0; t < 16; ++t) words[t] = read_word(block, t);
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t x = words[t - 15];
    const uint32_t y = words[t - 2];
    words[t] = words[t - 16] + words[t - 7] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) +
               (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & f) ^ (~e & g)) + round_constants[t] + words[t];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const State sums{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += sums[i];
}

// Section 5.1.1: the rest of the content, a one, zeros, and the length in bits.
std::string padded(std::string_view rest, uint64_t content_bytes) {
  std::string text(rest);
  text += '\x80';
  while (text.size() % block_bytes != block_bytes - 8) text += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    text += static_cast<char>(content_bytes * 8 >> shift & 0xff);
  }
  return text;
}

}  // namespace

std::string sha256(std::string_view content) {
  State state = initial_state;
  std::string_view rest = content;
  for (; rest.size() >= block_bytes; rest.remove_prefix(block_bytes)) add_block(state, rest);
  const std::string end = padded(rest, content.size());
  for (size_t i = 0; i < end.size(); i += block_bytes) {
    add_block(state, std::string_view(end).substr(i, block_bytes));
  }
  static constexpr char hex_digits[] = "0123456789abcdef";
  std::string digest;
  for (const uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) digest += hex_digits[word >> shift & 15];
  }
  return digest;
}

}  // namespace kneepoint
