// Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP's response to the share of marks,
// for L4S. A flow with a shorter RTT than `virtual_rtt_ms` behaves as if its RTT were
// `virtual_rtt_ms`.
#include <algorithm>

#include "algorithms/measures.hh"
#include "algorithms/registry.hh"
#include "algorithms/slow_start.hh"

namespace kneepoint {
namespace {

class Prague final : public TimingOut {
 public:
  explicit Prague(Parameters& parameters)
      : TimingOut(parameters),
        ssthresh_(initial_ssthresh(parameters)),
        gain_(parameters.real("gain", 1.0 / 16,
                              {.low = 1.0 / 64, .high = 0.5, .max = 1, .scale = Scale::log}, "1",
                              "weight of a round's share of marks in their average")),
        virtual_rtt_s_(parameters.real("virtual_rtt_ms", 25, {.low = 1, .high = 100}, "ms",
                                       "RTT as which shorter ones behave; 0: none") /
                       1000) {}

  // Slow start paces at two windows per RTT, so that the window can double.
  double pacing_us() const override {
    return srtt_s_ * 1e6 / (cwnd_ * (cwnd_ < ssthresh_ ? 2 : 1));
  }

  void on_ack(const Ack& ack) override {
    if (measures_rtt(ack)) srtt_s_ += (rtt_s(ack) - srtt_s_) * (srtt_s_ == 0 ? 1 : 0.125);
    const auto marked = static_cast<double>(ack.marked);
    acknowledged_ += static_cast<double>(ack.acknowledged);
    marked_ += marked;
    if (not ack.is_recovering) {
      if (ack.is_cwnd_limited) grow(static_cast<double>(ack.acknowledged) - marked);
      if (marked > 0 and now_s(ack) >= reduced_until_s_) reduce(alpha_ / 2, now_s(ack));
    }
    has_seen_marks_ = has_seen_marks_ or marked > 0;
    if (now_s(ack) - round_began_s_ >= virtual_rtt_s_ and rounds_.advance(ack)) end_round(ack);
  }

  void on_loss(const Loss& loss) override {
    if (loss.kind == Loss::Kind::marked or loss.is_repeated) return;  // on_ack counts marks
    reduce(0.5, now_s(loss));
    if (loss.kind == Loss::Kind::timed_out) cwnd_ = min_;
  }

 private:
  static constexpr double min_ = 2;

  double round_length_s() const { return std::max(srtt_s_, virtual_rtt_s_); }

  // Before the first mark there may be no queue that marks, so that the average stays unchanged.
  void end_round(const Ack& ack) {
    if (has_seen_marks_ and acknowledged_ > 0)
      alpha_ += gain_ * (std::min(marked_ / acknowledged_, 1.0) - alpha_);
    acknowledged_ = marked_ = 0;
    round_began_s_ = now_s(ack);
  }

  // Grows by a packet per round; with a short RTT the rate grows as at the virtual RTT.
  void grow(double packets) {
    if (packets <= 0) return;
    const double shortness = srtt_s_ > 0 ? srtt_s_ / round_length_s() : 1;
    cwnd_ += cwnd_ < ssthresh_ ? packets : packets * shortness * shortness / cwnd_;
    cwnd_ = std::min(cwnd_, widest_window);
  }

  void reduce(double share, double now_s) {
    cwnd_ = std::max(cwnd_ * (1 - share), min_);
    ssthresh_ = cwnd_;
    reduced_until_s_ = now_s + round_length_s();
  }

  double ssthresh_;
  double gain_;
  double virtual_rtt_s_;
  double srtt_s_ = 0;
  double alpha_ = 1;  // average share of marks; it begins with 1 as in RFC 8257
  double acknowledged_ = 0;
  double marked_ = 0;
  bool has_seen_marks_ = false;
  double round_began_s_ = 0;
  double reduced_until_s_ = 0;
  Rounds rounds_{};
};

const Registration<Prague> registration{
    "prague", "DCTCP for the Internet: reduces by the share of marks",
    "draft-briscoe-iccrg-prague-congestion-control", needs::counted_marks};

}  // namespace
}  // namespace kneepoint
