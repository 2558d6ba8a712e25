#include "apps/runner.hh"

#include <exception>
#include <new>
#include <stdexcept>

#include "apps/program.hh"
#include "common/progress.hh"
#include "common/system_call.hh"
#include "emulation/rig.hh"
#include "queues/registry.hh"

namespace kneepoint {

namespace {

const Offer& offer_to(const FlowSettings& flow) {
  if (flow.transport == Transport::datagrams) return offer_of_datagrams;
  return flow.tcp.ecn ? offer_of_tcp_with_ecn : offer_of_tcp;
}

void require_marks(const Scenario& scenario, const FlowSettings& flow, uint32_t needed) {
  const LinkSettings& link = flow.from == End::near ? scenario.uplink : scenario.downlink;
  if ((needed & (needs::marks | needs::counted_marks)) == 0 or marks_packets(link.queue)) return;
  throw std::invalid_argument("controller " + flow.controller + " needs marks, and queue " +
                              link.queue + " makes none; give it one that marks: abc, ...,ecn=1");
}

// A log does not contain its folder's name: otherwise logs in two folders would differ.
std::string without_folder(std::string text, const std::optional<std::filesystem::path>& file) {
  const std::string path = file ? file->string() : "";
  const size_t at = path.empty() ? std::string::npos : text.find(path);
  return at == std::string::npos ? text : text.replace(at, path.size(), file->filename().string());
}

}  // namespace

std::string describe_failure(std::string_view status, std::string_view reason) {
  return JsonWriter()
      .begin_object()
      .field("status", status)
      .field("reason", reason)
      .end_object()
      .text();
}

std::shared_ptr<const Trace> Runner::trace_of(const LinkSettings& link) {
  if (link.trace.empty()) return nullptr;
  const std::string& sha256 = link.trace_sha256;
  KnownTrace& known = traces_[link.trace];
  // A trace with this digest is right even if the file has changed meanwhile.
  if (not sha256.empty() and sha256 == known.sha256) return known.trace;
  const FileState file = state_of(link.trace);
  if (known.trace == nullptr or not sha256.empty() or file != known.file) {
    known = {};
    known = {std::make_shared<const Trace>(Trace::load(link.trace, sha256)), sha256, file};
    note_progress();
  }
  return known.trace;
}

RunReport Runner::run(const RunArguments& arguments) {
  const Scenario& scenario = arguments.scenario;
  std::vector<LoadedController> controllers;
  for (const FlowSettings& flow : scenario.flows) {
    if (flow.entry) continue;
    controllers.push_back(controllers_.make(flow.controller, flow.parameters,
                                            flow.controller_sha256, offer_to(flow)));
    require_marks(scenario, flow, controllers.back()->needs());
  }
  const auto uplink = trace_of(scenario.uplink);
  const auto downlink = trace_of(scenario.downlink);
  std::optional<LinkLog> link_log;
  std::optional<FlowLog> flow_log;
  if (arguments.uplink_log) {
    if (uplink == nullptr) {
      throw std::invalid_argument("--uplink-log needs an uplink with a trace");
    }
    const std::string request = without_folder(arguments.request, arguments.uplink_log);
    link_log.emplace(*arguments.uplink_log, uplink->name(),
                     without_folder(request, arguments.flow_log), scenario.uplink.queue);
  }
  if (arguments.flow_log) flow_log.emplace(*arguments.flow_log);

  Rig rig(scenario, {.uplink = uplink.get(),
                     .downlink = downlink.get(),
                     .controllers = {controllers.begin(), controllers.end()},
                     .meter = &meter_,
                     .link_log = link_log ? &*link_log : nullptr,
                     .flow_log = flow_log ? &*flow_log : nullptr,
                     .measures_flows = arguments.measures_flows});
  try {
    const RunResult result = rig.run();
    if (link_log) link_log->finish();
    if (flow_log) flow_log->finish();
    if (result.packets_delivered == 0) {
      return {RunStatus::failed, describe_failure("failed", "no datagram was delivered")};
    }
    JsonWriter json;
    json.begin_object().field("status", "ok");
    write_metrics(json, result.metrics)
        .field("packets_sent", result.packets_sent)
        .field("packets_delivered", result.packets_delivered)
        .field("packets_dropped", result.packets_dropped)
        .field("packets_lost", result.packets_lost)
        .field("at_bound_share", result.at_bound_share)
        .field("idle_share", result.idle_share);
    if (arguments.measures_flows) rig.write(json);
    return {RunStatus::ok, json.end_object().text()};
  } catch (const ControllerFailure& failure) {
    return {RunStatus::failed, describe_failure("failed", failure.what())};
  }
}

// Running out of memory is a fault, not the controller's failure.
std::string Runner::answer(const std::string& line) {
  try {
    return run(parse_batch_line(line)).json;
  } catch (const std::bad_alloc&) {
    return describe_failure("fault", out_of_memory);
  } catch (const MachineFault& fault) {
    return describe_failure("fault", fault.what());
  } catch (const std::exception& error) {
    return describe_failure("error", error.what());
  }
}

}  // namespace kneepoint
