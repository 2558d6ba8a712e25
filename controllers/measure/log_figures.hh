// The metrics of a run, from mm-link's log of its link.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "common/time.hh"
#include "measure/log_lines.hh"
#include "measure/metrics.hh"
#include "measure/over_time.hh"

namespace kneepoint {

struct LogFigures {
  Metrics metrics{};
  uint64_t packets_sent = 0;  // arrived at the link
  uint64_t packets_delivered = 0;
  uint64_t packets_dropped = 0;  // at least: see packets_overtaken in log_figures.cc
  bool logs_drops = false;
  Milliseconds begin_ms = 0;  // of the first event, since the log's base timestamp
  Milliseconds end_ms = 0;    // of the last
  bool is_torn = false;       // the last line has no end
  OverTime over_time{};       // since the log's base timestamp
  // Additions of mahimahi's forks to a log: events of other kinds, and further words of an event.
  std::map<std::string, uint64_t> other_events{};
  uint64_t longer_events = 0;
};

enum class Dialect { mahimahi, any_fork };

// Reads a log of link_log.hh's format in constant memory; a last line without its end is left out.
// Throws std::invalid_argument, naming `name` and the line, if the text is no such log, holds no
// event, or has additions of a fork that `dialect` does not allow.
LogFigures log_figures(const std::string& name, const ReadBytes& log, Dialect dialect);

// Returns the figures of a log file of mahimahi.
LogFigures read_log_figures(const std::filesystem::path& path);

// Writes the figures as fields of a JSON object, which the caller has begun.
JsonWriter& write_figures(JsonWriter& json, const LogFigures& figures);

// Writes the figures as a JSON object, with the series over time.
void write_over_time(JsonWriter& json, const LogFigures& figures);

}  // namespace kneepoint
