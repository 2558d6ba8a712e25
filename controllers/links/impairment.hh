// Impairments of packets before they reach a link. Each kind is one file of this folder, which
// declares and registers it, as for queues.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/notation.hh"
#include "common/random.hh"
#include "common/registration.hh"
#include "common/time.hh"

namespace kneepoint {

class Impairment {
 public:
  virtual ~Impairment() = default;

  // When a packet that arrives now leaves: not before now, and never if it is lost.
  virtual Microseconds passes_us(Microseconds now_us) = 0;
};

// Loses every n-th packet, or each packet with the same probability. Its settings are a link's own,
// not a description's.
class PacketLoss final : public Impairment {
 public:
  // A period of 0 loses no packets. The first lost packet has the number `first` or, if that is 0,
  // `period`.
  PacketLoss(uint64_t period, uint64_t first, double probability, Random random)
      : period_(period),
        to_next_loss_(first > 0 ? first : period),
        probability_(probability),
        random_(random) {}

  Microseconds passes_us(Microseconds now_us) override {
    bool is_lost = probability_ > 0 and random_.uniform() < probability_;
    if (period_ > 0 and --to_next_loss_ == 0) {
      to_next_loss_ = period_;
      is_lost = true;
    }
    return is_lost ? never : now_us;
  }

 private:
  uint64_t period_;
  uint64_t to_next_loss_;
  double probability_;
  Random random_;
};

using Impairments = Registry<Impairment, Random>;

// The correlation of a draw with the draw before it.
inline constexpr NotationParameter correlation{
    "correlation",
    NotationType::real,
    0,
    0.999,
    0,
    "1",
    "correlation of a packet's draw with the previous draw"};
constexpr NotationParameter time_ms(const char* name, double fallback, const char* meaning) {
  return {name, NotationType::real, 0, 60'000, fallback, "ms", meaning};
}

// Makes an impairment from a description such as "on_off:on=5,off=1"; see docs/emulator.md and
// Notation.
inline std::unique_ptr<Impairment> make_impairment(const std::string& description, uint64_t seed) {
  return Impairments::make({"impairment", description, Impairments::kinds()}, Random(seed));
}

}  // namespace kneepoint
