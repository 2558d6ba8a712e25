// In place of the files that start and confine an entry, on systems without such means.
#include <stdexcept>

#include "entries/child.hh"

namespace kneepoint {

CheapTurns::CheapTurns(bool is_confined) : is_confined_(is_confined) {}
CheapTurns::~CheapTurns() = default;

EntryWorker::EntryWorker(const EntrySettings& settings, const EntryStart&) {
  throw std::invalid_argument("entry " + settings.object.string() +
                              " cannot be confined on this system; run it on Linux");
}
EntryWorker::~EntryWorker() = default;

EntryChild::EntryChild(const EntrySettings& settings, bool is_trusted, uint64_t cpu_s)
    : cheap_turns_(not is_trusted),
      worker_(settings, {.is_trusted = is_trusted, .cpu_s = cpu_s}),
      patience_(cpu_s),
      start_s_(0) {}

void EntryChild::take_turn() {}  // no entry exists

}  // namespace kneepoint
