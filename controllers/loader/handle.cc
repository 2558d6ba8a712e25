#include "loader/handle.hh"

#include <new>
#include <string>

#include "common/text.hh"

namespace kneepoint {

void throw_failure(const kneepoint_interface& calls) {
  const kneepoint_failure* const failure = calls.failure();
  if (failure == nullptr) return;
  if (failure->kind == KNEEPOINT_OUT_OF_MEMORY) throw std::bad_alloc();
  throw ControllerFailure("the controller failed: " + one_line(failure->text));
}

void ControllerHandle::refuse(const char* what, double value, const char* rule, double bound,
                              const char* why) const {
  throw_failure(calls_);
  throw ControllerFailure("the " + std::string(what) + " became " + to_text(value) + rule +
                          to_text(bound) + why);
}

void ControllerHandle::refuse_event() const {
  throw_failure(calls_);
  throw ControllerFailure("the controller failed without a reason");
}

}  // namespace kneepoint
