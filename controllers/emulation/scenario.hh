// A scenario, which describes a run: links, flows, probes, the host, the seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/parameters.hh"
#include "common/json_value.hh"
#include "common/time.hh"
#include "entries/settings.hh"
#include "host/host_model.hh"
#include "transport/tcp.hh"

namespace kneepoint {

// One direction. A link has either a trace, with mahimahi's semantics, or a constant rate.
struct LinkSettings {
  std::filesystem::path trace{};  // empty: none
  std::string trace_sha256{};     // empty: not checked
  double rate_mbps = 0;
  bool by_packets = false;   // with a rate: every packet takes as long as a packet of 1504 bytes
  double delay_ms = 20;      // whole ms with a trace
  double delay_step_ms = 0;  // added in the second half of each period
  double delay_period_s = 0;
  std::filesystem::path delay_trace{};  // replaces these delays
  std::string queue = "infinite";
  uint64_t loss_period = 0;                // every n-th packet is lost; 0: none
  uint64_t loss_first = 0;                 // number of the first lost packet; 0: loss_period
  double loss_probability = 0;             // of each packet, independently
  bool loss_after_link = false;            // these losses occur after the link; false: before it
  std::vector<std::string> impairments{};  // before the link, one after the other
};

enum class Transport { datagrams, tcp };

// The near end of the uplink, and its far end.
enum class End { near, far };

struct FlowSettings {
  std::string controller{};         // a name or a path; empty: an entry sends
  std::string controller_sha256{};  // empty: not checked
  Parameters::Values parameters{};
  std::optional<EntrySettings> entry{};  // a whole sender, in place of a controller
  Transport transport = Transport::datagrams;
  TcpSettings tcp{};
  End from = End::near;      // the end that sends the data
  uint64_t share_class = 0;  // class in a queue that has classes
  double start_s = 0;
  std::optional<double> stop_s{};
  std::optional<uint64_t> bytes{};  // payload; none: endless

  // With TCP: the receiver requests these bytes `requests` times, with requests of this size.
  uint64_t request_bytes = 0;  // 0: no requests
  uint64_t requests = 1;
  double think_s = 0;  // time from an answer to the next request
};

// Small datagrams that are answered at once, like ICMP echoes.
struct ProbeSettings {
  double start_s = 0;
  double interval_ms = 1000;
  uint64_t count = 0;   // 0: endless
  uint64_t bytes = 88;  // on the link, with TUN's 4 bytes
  uint64_t share_class = 0;
};

struct Scenario {
  // The number of impairments of both links.
  size_t impairments() const { return uplink.impairments.size() + downlink.impairments.size(); }
  // The class of each flow, then the class of each probe.
  std::vector<uint16_t> classes() const;

  LinkSettings uplink{};    // carries the data
  LinkSettings downlink{};  // carries the answers
  std::vector<FlowSettings> flows{};
  std::vector<ProbeSettings> probes{};
  HostModel host{};
  std::optional<Milliseconds> duration_ms{};  // none: once through the traces
  double interval_s = 0;                      // interval of series over time; 0: none
  double measure_from_s = 0;                  // start of the figures of endless flows
  uint64_t seed = 0;
  bool trusts_entries = false;         // they run without Landlock and seccomp
  uint64_t entry_lookahead_us = 1000;  // how far ahead entries learn of their arrivals

  // Reads JSON that follows schema(). Throws std::invalid_argument, naming `name`, the key and the
  // problem with its value, for a scenario that cannot run.
  static Scenario parse(const std::string& name, std::string_view text);
  static Scenario read(const std::string& name, const JsonValue& value);

  // Takes links, duration and host from a network.json, as kneepoint.networks.prepare writes it,
  // with its traces in `folder`. Throws as above.
  void take_network(const std::string& name, std::string_view text,
                    const std::filesystem::path& folder);

  // The JSON schema (draft 2020-12) of what parse() reads.
  static std::string schema();
};

// Checks a queue that has classes: each class must have a flow, and each flow one of the classes.
// Throws std::invalid_argument, beginning with `where`.
void check_classes(const LinkSettings& link, const Scenario& scenario, const std::string& where);

}  // namespace kneepoint
