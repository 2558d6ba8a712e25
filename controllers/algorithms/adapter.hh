// The C interface of a controller written as a class.
#pragma once

#include <cmath>
#include <concepts>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "algorithms/controller.hh"
#include "algorithms/interface.h"

namespace kneepoint {

// The failure of the last call. Hidden, so that shared objects in one process do not share it.
class __attribute__((visibility("hidden"))) Failure {
 public:
  // Calls `work`; if that throws, stores the reason and returns `otherwise`.
  template <class Result, class Work>
  static Result guard(Result otherwise, const Work& work) noexcept {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      set(KNEEPOINT_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& error) {
      set(KNEEPOINT_FAILED, error.what());
    } catch (...) {
      set(KNEEPOINT_FAILED, "it threw something that is no std::exception");
    }
    return otherwise;
  }

  static const kneepoint_failure* take() noexcept {
    return std::exchange(failed_, false) ? &failure_ : nullptr;
  }

 private:
  static void set(int kind, const char* text) noexcept {
    try {
      text_ = text;
    } catch (const std::bad_alloc&) {
      kind = KNEEPOINT_OUT_OF_MEMORY;
    }
    failure_ = {.kind = kind, .text = text_.c_str()};
    failed_ = true;
  }

  static inline std::string text_;
  static inline kneepoint_failure failure_{};
  static inline bool failed_ = false;
};

// The calls of one running controller. The call of an event that the class does not handle is NULL
// and costs nothing.
template <class Algorithm>
class __attribute__((visibility("hidden"))) Adapter {
 public:
  static constexpr kneepoint_interface calls() {
    kneepoint_interface calls{};
    calls.version = KNEEPOINT_INTERFACE_VERSION;
    calls.destroy = [](void* controller) { delete static_cast<Algorithm*>(controller); };
    calls.window = [](const void* controller) {
      return Failure::guard(not_a_number, [&] { return of(controller).window(); });
    };
    calls.keepalive_ms = [](const void* controller) {
      return Failure::guard(not_a_number, [&] { return of(controller).keepalive_ms(); });
    };
    if constexpr (overrides<&Algorithm::pacing_us, &Controller::pacing_us>) {
      calls.pacing_us = [](const void* controller) {
        return Failure::guard(not_a_number, [&] { return of(controller).pacing_us(); });
      };
    }
    calls.governs_recovery = Algorithm::governs_recovery;
    calls.failure = [] { return Failure::take(); };
    if constexpr (overrides<&Algorithm::on_sent, &Controller::on_sent>) {
      calls.on_sent = [](void* controller, const kneepoint_sent* event) {
        return handle([&] { of(controller).on_sent(event->sequence_number, event->now_ms); });
      };
    }
    if constexpr (overrides<&Algorithm::on_ack, &Controller::on_ack>) {
      calls.on_ack = [](void* controller, const Ack* event) {
        return handle([&] { of(controller).on_ack(*event); });
      };
    }
    if constexpr (overrides<&Algorithm::on_keepalive, &Controller::on_keepalive>) {
      calls.on_keepalive = [](void* controller, const Keepalive* event) {
        return handle([&] { of(controller).on_keepalive(*event); });
      };
    }
    if constexpr (overrides<&Algorithm::on_loss, &Controller::on_loss>) {
      calls.on_loss = [](void* controller, const Loss* event) {
        return handle([&] { of(controller).on_loss(*event); });
      };
    }
    if constexpr (overrides<&Algorithm::on_undo, &Controller::on_undo>) {
      calls.on_undo = [](void* controller, const Undo* event) {
        return handle([&] { of(controller).on_undo(*event); });
      };
    }
    return calls;
  }

 private:
  template <auto own, auto inherited>
  static constexpr bool overrides = not std::same_as<decltype(own), decltype(inherited)>;

  static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

  static Algorithm& of(void* controller) { return *static_cast<Algorithm*>(controller); }
  static const Algorithm& of(const void* controller) {
    return *static_cast<const Algorithm*>(controller);
  }

  template <class Work>
  static int handle(const Work& work) noexcept {
    return Failure::guard(1, [&] {
      work();
      return 0;
    });
  }
};

}  // namespace kneepoint
