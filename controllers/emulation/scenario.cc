#include "emulation/scenario.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/json.hh"
#include "common/text.hh"
#include "entries/date.hh"
#include "entries/dialect.hh"
#include "host/application.hh"
#include "links/impairment.hh"
#include "queues/registry.hh"

namespace kneepoint {

namespace {

constexpr uint64_t max_flows = 10'000;
constexpr double longest_delay_ms = 60'000;
constexpr uint64_t max_classes = 1000;

// One key that an object may have: how its value is read, and how the schema describes it.
struct Field {
  std::string_view name;
  std::string_view meaning;
  std::function<std::string()> type;  // of the schema: JSON without its braces
  std::function<void(const JsonValue&, const std::string& where)> read;
  bool is_required = false;
};
using Fields = std::vector<Field>;

[[noreturn]] void refuse(const std::string& where, const std::string& reason) {
  throw std::invalid_argument(where + " " + reason);
}

const std::string& number_of(const JsonValue& value, const std::string& where, const char* kind) {
  if (value.number() == nullptr) refuse(where, std::string("is not a ") + kind);
  return *value.number();
}

const std::string& text_of(const JsonValue& value, const std::string& where) {
  if (value.text() == nullptr) refuse(where, "is not a text");
  return *value.text();
}

Field required(Field field) {
  field.is_required = true;
  return field;
}

// The place may be a std::optional. It keeps the converted number.
template <class Place, class Convert = std::identity>
Field real(std::string_view name, Place& place, double min, double max, std::string_view meaning,
           Convert convert = {}) {
  return {name, meaning,
          [min, max] {
            return R"("type":"number","minimum":)" + to_text(min) + R"(,"maximum":)" + to_text(max);
          },
          [&place, min, max, convert](const JsonValue& value, const std::string& where) {
            place = convert(to_real(number_of(value, where, "number"), where, min, max));
          }};
}

template <class Place>
Field whole(std::string_view name, Place& place, uint64_t min, uint64_t max,
            std::string_view meaning) {
  return {name, meaning,
          [min, max] {
            return R"("type":"integer","minimum":)" + std::to_string(min) + R"(,"maximum":)" +
                   std::to_string(max);
          },
          [&place, min, max](const JsonValue& value, const std::string& where) {
            place = to_whole(number_of(value, where, "whole number"), where, min, max);
          }};
}

Field milliseconds(std::string_view name, Microseconds& place_us, double min, double max,
                   std::string_view meaning) {
  return real(name, place_us, min, max, meaning,
              [](double time_ms) { return std::llround(time_ms * 1000); });
}

Field flag(std::string_view name, bool& place, std::string_view meaning) {
  return {name, meaning, [] { return R"("type":"boolean")"; },
          [&place](const JsonValue& value, const std::string& where) {
            if (value.boolean() == nullptr) refuse(where, "is neither true nor false");
            place = *value.boolean();
          }};
}

// The place keeps the converted text.
template <class Text, class Convert = std::identity>
Field text(std::string_view name, Text& place, std::string_view meaning, Convert convert = {}) {
  return {name, meaning, [] { return R"("type":"string")"; },
          [&place, convert](const JsonValue& value, const std::string& where) {
            place = convert(text_of(value, where));
          }};
}

Field texts(std::string_view name, std::vector<std::string>& place, std::string_view meaning) {
  return {name, meaning, [] { return R"("type":"array","items":{"type":"string"})"; },
          [&place](const JsonValue& value, const std::string& where) {
            if (value.array() == nullptr) refuse(where, "is not a list");
            for (const JsonValue& item : *value.array()) {
              if (item.text() == nullptr) refuse(where, "has an element that is not a text");
              place.push_back(*item.text());
            }
          }};
}

const JsonValue::Object& members_of(const JsonValue& value, const std::string& where) {
  if (value.object() == nullptr) refuse(where, "is not an object");
  return *value.object();
}

void read_fields(const JsonValue& value, const Fields& fields, const std::string& where) {
  std::set<std::string_view> given;
  for (const auto& [key, content] : members_of(value, where)) {
    const auto found = std::ranges::find(fields, key, &Field::name);
    if (found == fields.end()) {
      std::string known;
      for (const Field& field : fields) known.append(" ").append(field.name);
      refuse(where, "has no key " + shown(key) + "; there are:" + known);
    }
    given.insert(key);
    found->read(content, where + "." + key);
  }
  for (const Field& field : fields) {
    if (field.is_required and not given.contains(field.name)) {
      refuse(where, "lacks " + std::string(field.name) + ": " + std::string(field.meaning));
    }
  }
}

std::string schema_of(const Fields& fields) {
  std::string properties;
  std::string required;
  for (const Field& field : fields) {
    properties += (properties.empty() ? "" : ",") + JsonWriter().value(field.name).text() + ":{" +
                  field.type() + R"(,"description":)" + JsonWriter().value(field.meaning).text() +
                  "}";
    if (field.is_required)
      required += (required.empty() ? "\"" : ",\"") + std::string(field.name) + "\"";
  }
  return R"("type":"object","additionalProperties":false,"properties":{)" + properties +
         R"(},"required":[)" + required + "]";
}

template <class Item>
Field object(std::string_view name, Item& place, Fields (*fields)(Item&),
             std::string_view meaning) {
  return {name, meaning, [&place, fields] { return schema_of(fields(place)); },
          [&place, fields](const JsonValue& value, const std::string& where) {
            read_fields(value, fields(place), where);
          }};
}

Fields link_fields(LinkSettings& link) {
  return {
      text("trace", link.trace, "a trace's path; mahimahi's semantics"),
      text("trace_sha256", link.trace_sha256, "the digest that it must have"),
      real("rate_mbps", link.rate_mbps, 0.001, 100'000, "a constant rate, in place of a trace"),
      flag("by_packets", link.by_packets,
           "with rate_mbps: every packet takes as long as a packet of 1504 bytes"),
      real("delay_ms", link.delay_ms, 0, longest_delay_ms,
           "one-way delay; whole milliseconds with a trace"),
      real("delay_step_ms", link.delay_step_ms, 0, longest_delay_ms,
           "addition to the delay in the second half of each delay_period_s; whole "
           "milliseconds with a trace"),
      real("delay_period_s", link.delay_period_s, 0.01, longest_run_s,
           "period of the changes of the delay"),
      text("delay_trace", link.delay_trace,
           "path of a file with lines TIME_MS DELAY_MS, which replaces these keys; whole "
           "milliseconds with a trace"),
      text("queue", link.queue, "POLICY[:NAME=NUMBER,...], as --uplink-queue takes it"),
      whole("loss_period", link.loss_period, 2, 1ULL << 40, "every n-th packet is lost"),
      whole("loss_first", link.loss_first, 1, 1ULL << 40,
            "number of the first lost packet; by default loss_period"),
      real("loss_probability", link.loss_probability, 0, 1,
           "probability that a packet is lost, independently of others"),
      flag("loss_after_link", link.loss_after_link,
           "whether these losses occur after the link; otherwise before it and its impairments"),
      texts("impairments", link.impairments,
            "impairments of packets before the link, in order: KIND:NAME=NUMBER,...")};
}

void check_link(const LinkSettings& link, const std::string& where) {
  const bool has_trace = not link.trace.empty();
  const bool has_rate = link.rate_mbps > 0;
  if (has_trace == has_rate) refuse(where, "needs either trace or rate_mbps");
  for (const auto& [key, delay_ms] :
       {std::pair{".delay_ms", link.delay_ms}, {".delay_step_ms", link.delay_step_ms}}) {
    if (has_trace and delay_ms != std::floor(delay_ms)) {
      refuse(where + key, "must be whole, as mahimahi's delays are");
    }
  }
  if (link.delay_step_ms > 0 and link.delay_period_s == 0) {
    refuse(where + ".delay_step_ms", "needs delay_period_s");
  }
  if (link.delay_step_ms > 0 and not link.delay_trace.empty()) {
    refuse(where + ".delay_trace", "replaces delay_step_ms; give one of them");
  }
  try {
    make_packet_queue(link.queue, 0);
  } catch (const std::invalid_argument& error) {
    refuse(where + ".queue:", error.what());
  }
  for (const std::string& each : link.impairments) {
    try {
      make_impairment(each, 0);
    } catch (const std::invalid_argument& error) {
      refuse(where + ".impairments:", error.what());
    }
  }
}

Field link(std::string_view name, LinkSettings& place, std::string_view meaning) {
  Field field = required(object(name, place, link_fields, meaning));
  field.read = [&place, read = field.read](const JsonValue& value, const std::string& where) {
    read(value, where);
    check_link(place, where);
  };
  return field;
}

// The same, with its trace in a folder.
Field link_in(const std::filesystem::path& folder, std::string_view name, LinkSettings& place) {
  Field field = link(name, place, "a prepared link");
  field.read = [&place, folder, read = field.read](const JsonValue& value,
                                                   const std::string& where) {
    read(value, where);
    if (not place.trace.empty()) place.trace = folder / place.trace.filename();
  };
  return field;
}

Fields tcp_fields(TcpSettings& tcp) {
  return {
      flag("sack", tcp.sack, "recovery by RFC 6675; otherwise NewReno (RFC 6582)"),
      milliseconds("min_rto_ms", tcp.min_rto_us, 1, 60'000,
                   "minimum of the whole timeout: 1000 in RFC 6298, 200 in Linux"),
      milliseconds(
          "min_rto_margin_ms", tcp.min_rto_margin_us, 1, 60'000,
          "minimum of 4 RTTVAR, which the timeout adds to the smoothed RTT: 1, the clock's "
          "granularity of RFC 6298, or 200 in Linux"),
      milliseconds("delayed_ack_ms", tcp.delayed_ack_us, 0, 500,
                   "0: every segment is acknowledged"),
      whole("quick_acks", tcp.quick_acks, 0, 1000,
            "number of a connection's first segments that are acknowledged at once: 16 in Linux"),
      whole("receive_window_packets", tcp.receive_window_packets, 1, 1 << 20,
            "window that the receiver offers"),
      whole("send_buffer_bytes", tcp.send_buffer_bytes, tcp_payload_bytes,
            TcpSettings::unlimited_bytes,
            "buffer of the sender's socket, which holds unacknowledged data"),
      whole("receive_buffer_bytes", tcp.receive_buffer_bytes, 2 * tcp_payload_bytes,
            TcpSettings::unlimited_bytes,
            "buffer of the receiver's socket, half of which is offered as window, as in Linux"),
      flag("ecn", tcp.ecn, "packets may be marked instead of dropped (RFC 3168)"),
      flag("rack", tcp.rack, "losses are found by time, and by probes of the tail (RFC 8985)"),
      flag("prr", tcp.prr, "recovery sends in proportion to delivered data (RFC 6937)"),
      flag("undo", tcp.undo, "spurious losses are undone (RFC 3522, RFC 4015)")};
}

Field parameters(Parameters::Values& place) {
  return {"parameters", "the controller's parameters; the others have their defaults",
          [] { return R"("type":"object","additionalProperties":{"type":"number"})"; },
          [&place](const JsonValue& value, const std::string& where) {
            if (value.object() == nullptr) refuse(where, "is not an object");
            for (const auto& [name, number] : *value.object()) {
              if (number.number() == nullptr) refuse(where + "." + name, "is not a number");
              place[name] = to_real(*number.number(), where + "." + name);
            }
          }};
}

// One of two words, which stand for the first two values.
template <class Value>
Field choice(std::string_view name, Value& place, const std::array<std::string, 2>& words,
             std::string_view meaning) {
  return {
      name, meaning,
      [words] { return R"("type":"string","enum":[")" + words[0] + R"(",")" + words[1] + R"("])"; },
      [&place, words](const JsonValue& value, const std::string& where) {
        const std::string* const word = value.text();
        if (word == nullptr or (*word != words[0] and *word != words[1])) {
          refuse(where, "is neither \"" + words[0] + "\" nor \"" + words[1] + "\"");
        }
        place = static_cast<Value>(*word == words[1]);
      }};
}

Field variables(std::string_view name, std::vector<std::pair<std::string, std::string>>& place,
                std::string_view meaning) {
  return {name, meaning,
          [] { return R"("type":"object","additionalProperties":{"type":"string"})"; },
          [&place](const JsonValue& value, const std::string& where) {
            for (const auto& [key, content] : members_of(value, where)) {
              if (content.text() == nullptr) refuse(where + "." + key, "is not a text");
              if (key.empty() or key.find('=') != std::string::npos) {
                refuse(where, "has the name " + shown(key) + ", which no variable can have");
              }
              place.emplace_back(key, *content.text());
            }
          }};
}

Fields entry_fields(EntrySettings& entry) {
  return {
      required(text("object", entry.object,
                    "the path of a shared object that exports main, or of a file in Python (.py)")),
      text("interpreter", entry.interpreter, "the program that runs a file in Python"),
      text("sha256", entry.sha256, "the digest that it must have"),
      texts("arguments", entry.arguments, "arguments of its program, after host and port"),
      whole("cpu_s", entry.cpu_s, 1, 86'400,
            "the CPU time that it may use; otherwise 2 s and half of the run's duration"),
      whole("clock_epoch_ms", entry.clock_epoch_ms, 0, date_s * 1000,
            "for a kit whose clocks show dates: the date that it subtracts"),
      variables("environment", entry.environment, "all variables that getenv returns"),
      variables(
          "files", entry.files,
          "the digests of files that it may read, by their names; they lie beside the object, "
          "DIGEST.data"),
      text("dialect", entry.dialect, "kit whose datagrams it sends",
           [](const std::string& name) { return find_dialect(name).name; })};
}

Fields flow_fields(FlowSettings& flow) {
  constexpr uint64_t max_bytes = 1ULL << 50;
  Field entry{"entry", "a whole sender, in place of a controller",
              [] {
                EntrySettings example;
                return schema_of(entry_fields(example));
              },
              [&flow](const JsonValue& value, const std::string& where) {
                flow.entry.emplace();
                read_fields(value, entry_fields(*flow.entry), where);
              }};
  return {
      text("controller", flow.controller, "a name or a path"),
      text("controller_sha256", flow.controller_sha256, "the digest that it must have"),
      parameters(flow.parameters),
      std::move(entry),
      choice("transport", flow.transport, {"datagrams", "tcp"},
             "the contest kit's datagrams, or TCP"),
      object("tcp", flow.tcp, tcp_fields, "details of TCP"),
      whole("class", flow.share_class, 0, max_classes, "its class in a queue that has classes"),
      real("start_s", flow.start_s, 0, longest_run_s, "start of the flow"),
      real("stop_s", flow.stop_s, 0, longest_run_s, "time after which it sends no new data"),
      whole("bytes", flow.bytes, 1, max_bytes, "payload of the flow; otherwise endless"),
      choice("from", flow.from, {"near", "far"},
             "the end that sends the data: near, over the uplink, or far, over the downlink"),
      whole("request_bytes", flow.request_bytes, 1,
            Exchange::max_request_segments * tcp_payload_bytes,
            "TCP only: the receiver opens the connection and requests `bytes` by a request of this "
            "size"),
      whole("requests", flow.requests, 1, 1'000'000,
            "number of requests, one after another, over the same connection"),
      real("think_s", flow.think_s, 0, longest_run_s, "time from an answer to the next request")};
}

Fields probe_fields(ProbeSettings& probe) {
  return {
      real("start_s", probe.start_s, 0, longest_run_s, "time of the first packet"),
      real("interval_ms", probe.interval_ms, 1, 1e6, "time between packets"),
      whole("count", probe.count, 1, 1ULL << 40, "number of packets; otherwise endless"),
      whole("bytes", probe.bytes, 32, datagram_bytes, "size on the link"),
      whole("class", probe.share_class, 0, max_classes, "its class in a queue that has classes")};
}

template <class Item>
Field list(std::string_view name, std::vector<Item>& place, Fields (*fields)(Item&),
           std::string_view meaning) {
  return {name, meaning,
          [fields] {
            Item example{};
            return R"("type":"array","items":{)" + schema_of(fields(example)) + "}";
          },
          [&place, fields](const JsonValue& value, const std::string& where) {
            if (value.array() == nullptr) refuse(where, "is not a list");
            if (value.array()->size() > max_flows) refuse(where, "has more than 10000 elements");
            for (size_t i = 0; i < value.array()->size(); ++i) {
              Item item{};
              read_fields((*value.array())[i], fields(item), where + "[" + std::to_string(i) + "]");
              place.push_back(std::move(item));
            }
          }};
}

Fields scenario_fields(Scenario& scenario) {
  const auto to_host = [&scenario](const std::string& description) {
    HostModel host = make_host_model(description);
    host.host_latency_us = scenario.host.host_latency_us;
    return host;
  };
  const auto to_ms = [](double duration_s) {
    return static_cast<Milliseconds>(duration_s * 1000 + 0.5);
  };
  return {
      link("uplink", scenario.uplink, "link that carries the data"),
      link("downlink", scenario.downlink, "link that carries acknowledgments and answers"),
      required(list("flows", scenario.flows, flow_fields, "flows over the uplink")),
      list("probes", scenario.probes, probe_fields, "small datagrams, answered at once"),
      text("host_model", scenario.host,
           "as --host-model takes it; model of the processes around links with traces", to_host),
      real("host_latency_us", scenario.host.host_latency_us, 0, 1e6,
           "extra latency in each direction, on links with traces"),
      real("duration_s", scenario.duration_ms, 0.001, longest_run_s,
           "duration of the run, in which traces repeat; by default the run ends with the traces",
           to_ms),
      real("interval_s", scenario.interval_s, 0.001, longest_run_s,
           "interval of series over time; by default there are none"),
      real("measure_from_s", scenario.measure_from_s, 0, longest_run_s,
           "start of the figures of endless flows"),
      whole("seed", scenario.seed, 0, std::numeric_limits<uint64_t>::max(),
            "seed of all random draws"),
      flag("trust", scenario.trusts_entries, "entries run without Landlock and seccomp"),
      whole(
          "entry_lookahead_us", scenario.entry_lookahead_us, 0, 1000,
          "how far in advance entries receive arrivals; with 0 the result is the same, but later")};
}

Fields network_fields(Scenario& scenario, const std::filesystem::path& folder) {
  Fields fields{link_in(folder, "uplink", scenario.uplink),
                link_in(folder, "downlink", scenario.downlink)};
  for (Field& field : scenario_fields(scenario)) {
    if (field.name == "duration_s") {
      field.read = [read = field.read](const JsonValue& value, const std::string& where) {
        if (not value.is_null()) read(value, where);
      };
    } else if (field.name != "host_model" and field.name != "host_latency_us") {
      continue;
    }
    fields.push_back(required(std::move(field)));
  }
  for (const char* const name : {"title", "name", "omniscient"}) {  // a run does not use them
    fields.push_back({name, "", {}, [](const JsonValue&, const std::string&) {}});
  }
  return fields;
}

void check_ends(const Scenario& scenario, const std::string& name) {
  const bool has_rate = scenario.uplink.rate_mbps > 0 and scenario.downlink.rate_mbps > 0;
  if (has_rate and not scenario.duration_ms) {
    refuse(name, "lacks duration_s: links of constant rate never end");
  }
}

void check_sender(const FlowSettings& flow, const std::string& where) {
  if (flow.controller.empty() != flow.entry.has_value()) {
    refuse(where, "needs either controller or entry");
  }
  if (not flow.entry) return;
  if (not flow.parameters.empty()) refuse(where + ".parameters", "are a controller's");
  if (flow.transport == Transport::tcp) refuse(where + ".transport", "is datagrams for an entry");
  if (flow.bytes) refuse(where + ".bytes", "is for controllers, not for entries");
}

void check(const Scenario& scenario, const std::string& name) {
  if (scenario.flows.empty()) refuse(name + ".flows", "has no flow");
  check_ends(scenario, name);
  const double end_s = static_cast<double>(scenario.duration_ms.value_or(longest_run_ms)) / 1000;
  if (scenario.measure_from_s >= end_s) {
    refuse(name + ".measure_from_s", "is not before the end of the run");
  }
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const FlowSettings& flow = scenario.flows[i];
    const std::string where = name + ".flows[" + std::to_string(i) + "]";
    check_sender(flow, where);
    if (flow.start_s >= end_s) refuse(where + ".start_s", "is not before the end of the run");
    if (flow.stop_s and *flow.stop_s <= flow.start_s) {
      refuse(where + ".stop_s", "is not after start_s");
    }
    if (flow.tcp.rack and not flow.tcp.sack) refuse(where + ".tcp.rack", "needs sack");
    if (flow.request_bytes > 0 and flow.transport != Transport::tcp) {
      refuse(where + ".request_bytes", "needs transport tcp");
    }
    if (flow.request_bytes > 0 and not flow.bytes) {
      refuse(where + ".request_bytes", "needs bytes, the size of the answer");
    }
    if (flow.request_bytes == 0 and (flow.requests > 1 or flow.think_s > 0)) {
      refuse(where, "has requests or think_s, but no request_bytes");
    }
  }
  for (size_t i = 0; i < scenario.probes.size(); ++i) {
    if (scenario.probes[i].start_s >= end_s) {
      refuse(name + ".probes[" + std::to_string(i) + "].start_s",
             "is not before the end of the run");
    }
  }
  check_classes(scenario.uplink, scenario, name + ".uplink.queue");
  check_classes(scenario.downlink, scenario, name + ".downlink.queue");
}

}  // namespace

void check_classes(const LinkSettings& link, const Scenario& scenario, const std::string& where) {
  const std::vector<uint16_t> class_of_flow = scenario.classes();
  const size_t classes = make_packet_queue(link.queue, 0)->classes();
  if (classes == 0) return;
  const uint16_t last = std::ranges::max(class_of_flow);
  if (last >= classes) {
    refuse(where, "has no class " + std::to_string(last) + ", which a flow or a probe names");
  }
  for (uint16_t number = 0; number < classes; ++number) {
    if (std::ranges::find(class_of_flow, number) == class_of_flow.end()) {
      refuse(where, "has the class " + std::to_string(number) + ", but no flow is in it");
    }
  }
}

std::vector<uint16_t> Scenario::classes() const {
  std::vector<uint16_t> all;
  for (const FlowSettings& flow : flows) all.push_back(static_cast<uint16_t>(flow.share_class));
  for (const ProbeSettings& probe : probes) all.push_back(static_cast<uint16_t>(probe.share_class));
  return all;
}

Scenario Scenario::parse(const std::string& name, std::string_view text) {
  return read(name, JsonValue::parse(name, text));
}

Scenario Scenario::read(const std::string& name, const JsonValue& value) {
  Scenario scenario;
  scenario.host = make_host_model("event-loop");
  read_fields(value, scenario_fields(scenario), name);
  check(scenario, name);
  return scenario;
}

void Scenario::take_network(const std::string& name, std::string_view text,
                            const std::filesystem::path& folder) {
  read_fields(JsonValue::parse(name, text), network_fields(*this, folder), name);
  check_ends(*this, name);
}

std::string Scenario::schema() {
  Scenario scenario;
  return R"({"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Kneepoint scenario",)" +
         schema_of(scenario_fields(scenario)) + "}";
}

}  // namespace kneepoint
