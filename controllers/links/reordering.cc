// Reordering, by netem's parameters: a share of the packets overtakes the others, which are
// delayed.
#include <cmath>

#include "links/impairment.hh"

namespace kneepoint {
namespace {

class Reordering final : public Impairment {
 public:
  Reordering(const Notation& given, Random random)
      : after_delayed_(given["share"] * (1 - given["correlation"])),
        after_overtaking_(given["share"] + given["correlation"] * (1 - given["share"])),
        gap_(static_cast<uint64_t>(given["gap"])),
        delay_us_(std::llround(given["delay"] * 1000)),
        random_(random) {}

  // A Markov chain of two states has the given share, and the given correlation of neighbours.
  Microseconds passes_us(Microseconds now_us) override {
    if (++since_last_ < gap_) return now_us + delay_us_;
    overtakes_ = random_.uniform() < (overtakes_ ? after_overtaking_ : after_delayed_);
    if (not overtakes_) return now_us + delay_us_;
    since_last_ = 0;
    return now_us;
  }

 private:
  double after_delayed_;  // the probability of overtaking
  double after_overtaking_;
  uint64_t gap_;
  Microseconds delay_us_;
  Random random_;
  uint64_t since_last_ = 0;
  bool overtakes_ = false;
};

const Impairments::Registration<Reordering> registration{
    "reordering",
    {"a share of the packets overtakes the others, which are delayed",
     {{"share", NotationType::positive, 0, 1, std::nullopt, "share",
       "share of packets that are not delayed", true},
      {"delay", NotationType::positive, 0, 60'000, std::nullopt, "ms", "delay of the other packets",
       true},
      correlation,
      {"gap", NotationType::whole, 1, 1e9, 1, "packets",
       "minimum distance between packets that overtake"}}}};

}  // namespace
}  // namespace kneepoint
