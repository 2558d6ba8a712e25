#include "transport/contest_sender.hh"

namespace kneepoint {

void ContestSender::acknowledged(const Ack& ack, Microseconds arrived_us, Microseconds now_us) {
  last_activity_us_ = now_us;
  next_ack_expected_ = std::max(next_ack_expected_, ack.sequence_number + 1);
  controller_.on_ack(ack);
  ask_controller();
  if (log_ != nullptr) log_->acknowledged(arrived_us, flow_, ack, controller_.window());
}

void ContestSender::keepalive(Microseconds now_us) {
  last_activity_us_ = now_us;
  controller_.on_keepalive(whole_ms(now_us));
  ask_controller();
  if (log_ != nullptr) log_->keepalive(now_us, flow_, controller_.window());
}

}  // namespace kneepoint
