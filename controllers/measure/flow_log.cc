#include "measure/flow_log.hh"

#include "common/text.hh"

namespace kneepoint {

FlowLog::FlowLog(const std::filesystem::path& path) : file_(path) {
  file_ << "# kneepoint flow log, version 1: T_US FLOW sent SEQUENCE | ack SEQUENCE RTT_MS WINDOW |"
           " keepalive WINDOW\n";
}

void FlowLog::sent(Microseconds time_us, uint32_t flow, uint64_t sequence_number) {
  file_ << time_us << ' ' << flow << " sent " << sequence_number << '\n';
}

void FlowLog::acknowledged(Microseconds time_us, uint32_t flow, uint64_t sequence_number,
                           Milliseconds rtt_ms, double window) {
  file_ << time_us << ' ' << flow << " ack " << sequence_number << ' ' << rtt_ms << ' '
        << to_text(window) << '\n';
}

void FlowLog::keepalive(Microseconds time_us, uint32_t flow, double window) {
  file_ << time_us << ' ' << flow << " keepalive " << to_text(window) << '\n';
}

void FlowLog::finish() { file_.finish(); }

}  // namespace kneepoint
