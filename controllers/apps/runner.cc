#include "apps/runner.hh"

#include "algorithms/registry.hh"
#include "network/metrics_json.hh"

namespace kneepoint {

namespace {

std::string describe(const RunResult& result) {
  JsonWriter json;
  json.begin_object().field("status", "ok");
  return write_metrics(json, result.metrics)
      .field("packets_sent", result.packets_sent)
      .field("packets_delivered", result.packets_delivered)
      .field("packets_dropped", result.packets_dropped)
      .end_object()
      .text();
}

std::string describe_failure(const std::string& reason) {
  return JsonWriter()
      .begin_object()
      .field("status", "failed")
      .field("reason", reason)
      .end_object()
      .text();
}

}  // namespace

const Trace& Runner::trace(const std::filesystem::path& path) {
  const auto known = traces_.find(path);
  if (known != traces_.end()) return known->second;
  return traces_.emplace(path, Trace::load(path)).first->second;
}

RunReport Runner::run(const RunArguments& arguments) {
  const auto controller = make_controller(arguments.controller, arguments.constants);
  const Trace& uplink = trace(arguments.uplink);
  const Trace& downlink = trace(arguments.downlink);
  std::optional<LinkLog> link_log;
  std::optional<FlowLog> flow_log;
  if (arguments.uplink_log) {
    link_log.emplace(*arguments.uplink_log, uplink.name(), arguments.command_line,
                     arguments.network.uplink_queue);
  }
  if (arguments.flow_log) flow_log.emplace(*arguments.flow_log);

  EventLoop loop(uplink, downlink, arguments.network, {controller.get()}, meter_,
                 link_log ? &*link_log : nullptr, flow_log ? &*flow_log : nullptr);
  try {
    const RunResult result = loop.run();
    if (link_log) link_log->finish();
    if (flow_log) flow_log->finish();
    if (result.packets_delivered == 0) {
      return {RunStatus::failed, describe_failure("no datagram was delivered")};
    }
    return {RunStatus::ok, describe(result)};
  } catch (const ControllerFailure& failure) {
    return {RunStatus::failed, describe_failure(failure.what())};
  }
}

}  // namespace kneepoint
