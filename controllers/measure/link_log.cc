#include "measure/link_log.hh"

#include "transport/packet.hh"

namespace kneepoint {

LinkLog::LinkLog(const std::filesystem::path& path, const std::string& trace_name,
                 const std::string& command_line, const std::string& queue_description)
    : file_(path) {
  // Virtual time begins at 0, so that mahimahi's two lines of wall-clock time say 0.
  file_ << "# mahimahi mm-link (Uplink) [" << trace_name << "] > " << path.filename().string()
        << '\n'
        << "# command line: " << command_line << '\n'
        << "# queue: " << queue_description << '\n'
        << "# init timestamp: 0\n"
        << "# base timestamp: 0\n";
}

void LinkLog::arrival(Milliseconds time_ms, uint32_t bytes) {
  write_until(time_ms);
  file_ << time_ms << " + " << bytes << '\n';
}

void LinkLog::opportunity(Milliseconds time_ms) { to_come_.push({time_ms, 0, 0}); }

void LinkLog::departure(Milliseconds time_ms, uint32_t bytes, Milliseconds delay_ms) {
  to_come_.push({time_ms, bytes, delay_ms});
}

void LinkLog::drop(Milliseconds time_ms, uint64_t packets, uint64_t bytes) {
  write_until(time_ms);
  file_ << time_ms << " d " << packets << ' ' << bytes << '\n';
}

void LinkLog::write_until(Milliseconds time_ms) {
  while (not to_come_.empty() and to_come_.front().time_ms <= time_ms) {
    const Line& line = to_come_.pop();
    if (line.bytes == 0) {
      file_ << line.time_ms << " # " << datagram_bytes << '\n';
    } else {
      file_ << line.time_ms << " - " << line.bytes << ' ' << line.delay_ms << '\n';
    }
  }
}

void LinkLog::finish() { file_.finish(); }

}  // namespace kneepoint
