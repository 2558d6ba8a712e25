// A link that is on and off in turn, as in mahimahi's mm-onoff: packets that arrive while it is off
// are lost.
#include "links/impairment.hh"

namespace kneepoint {
namespace {

class OnOff final : public Impairment {
 public:
  OnOff(const Notation& given, Random random)
      : mean_us_{given["off"] * 1e6, given["on"] * 1e6},
        is_exponential_(given["exponential"] != 0),
        random_(random) {}

  Microseconds passes_us(Microseconds now_us) override {
    while (until_us_ <= static_cast<double>(now_us)) {
      is_on_ = not is_on_;
      until_us_ += is_exponential_ ? draw_exponential(random_, mean_us_[is_on_]) : mean_us_[is_on_];
    }
    return is_on_ ? now_us : never;
  }

 private:
  double mean_us_[2];  // off, on
  bool is_exponential_;
  Random random_;
  bool is_on_ = false;  // at 0 it turns on
  double until_us_ = 0;
};

constexpr NotationParameter length(const char* name, const char* meaning) {
  return {name, NotationType::real, 0.001, longest_run_s, std::nullopt, "s", meaning, true};
}

const Impairments::Registration<OnOff> registration{
    "on_off",
    {"on and off in turn, as mm-onoff: packets that arrive while it is off are lost",
     {length("on", "time for which it is on"), length("off", "time for which it is off"),
      flag("exponential", false, "on and off are means of random times")}}};

}  // namespace
}  // namespace kneepoint
