#include "apps/runner.hh"

#include "common/progress.hh"
#include "measure/metrics_json.hh"

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

std::shared_ptr<const Trace> Runner::trace(const std::filesystem::path& path,
                                           const std::string& sha256) {
  KnownTrace& known = traces_[path];
  // What has this digest is right, whatever has become of the file meanwhile.
  if (not sha256.empty() and sha256 == known.sha256) return known.trace;
  const FileState file = state_of(path);
  if (known.trace == nullptr or not sha256.empty() or file != known.file) {
    known = {};
    known = {std::make_shared<const Trace>(Trace::load(path, sha256)), sha256, file};
    note_progress();
  }
  return known.trace;
}

RunReport Runner::run(const RunArguments& arguments) {
  const LoadedController controller =
      controllers_.make(arguments.controller, arguments.constants, arguments.controller_sha256);
  const auto uplink = trace(arguments.uplink, arguments.uplink_sha256);
  const auto downlink = trace(arguments.downlink, arguments.downlink_sha256);
  std::optional<LinkLog> link_log;
  std::optional<FlowLog> flow_log;
  if (arguments.uplink_log) {
    link_log.emplace(*arguments.uplink_log, uplink->name(), arguments.command_line,
                     arguments.network.uplink_queue);
  }
  if (arguments.flow_log) flow_log.emplace(*arguments.flow_log);

  EventLoop loop(*uplink, *downlink, arguments.network, {controller}, meter_,
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
