#include "measure/over_time.hh"

namespace kneepoint {

void OverTime::halve() {
  intervals_.resize(max);
  for (size_t place = 0; place < max; place += 2) {
    Interval both = intervals_[place];
    const Interval& other = intervals_[place + 1];
    both.capacity_bytes += other.capacity_bytes;
    both.ingress_bytes += other.ingress_bytes;
    both.egress_bytes += other.egress_bytes;
    both.more_packets += other.more_packets;
    both.more_that_departed += other.more_that_departed;
    both.delay_ms = std::fmax(both.delay_ms, other.delay_ms);
    intervals_[place / 2] = both;
  }
  intervals_.resize(max / 2);
  interval_ms_ *= 2;
}

void OverTime::write(JsonWriter& json, bool has_drops) const {
  std::vector<double> capacity_mbps, ingress_mbps, egress_mbps, delay_ms, queue_packets;
  int64_t waiting = 0;
  for (const Interval& each : intervals_) {
    const double us = static_cast<double>(interval_ms_) * 1000;
    capacity_mbps.push_back(static_cast<double>(each.capacity_bytes) * 8 / us);
    ingress_mbps.push_back(static_cast<double>(each.ingress_bytes) * 8 / us);
    egress_mbps.push_back(static_cast<double>(each.egress_bytes) * 8 / us);
    delay_ms.push_back(each.delay_ms);
    waiting += has_drops ? each.more_packets : each.more_that_departed;
    queue_packets.push_back(static_cast<double>(waiting));
  }
  json.key("over_time").begin_object();
  json.field("interval_s", static_cast<double>(interval_ms_) / 1000);
  json.field("capacity_mbps", capacity_mbps).field("ingress_mbps", ingress_mbps);
  json.field("egress_mbps", egress_mbps).field("delay_ms", delay_ms);
  json.field("queue_packets", queue_packets).end_object();
}

}  // namespace kneepoint
