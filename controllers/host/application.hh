// Applications above TCP: a transfer, or requests and their answers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/time.hh"
#include "measure/flow_meter.hh"
#include "transport/tcp_sender.hh"

namespace kneepoint {

// The application at one end of a connection. The base class only receives.
class Application {
 public:
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  virtual ~Application() = default;

  // The size of one of its segments on the link.
  virtual uint16_t bytes_of(uint64_t /* number */) const { return tcp_segment_bytes; }
  // `in_order` of the other end's segments have arrived in order.
  virtual void received(uint64_t /* in_order */, TcpSender& /* sender */,
                        Microseconds /* now_us */) {}
  // More of its segments are acknowledged.
  virtual void acknowledged(const TcpSender& /* sender */, Microseconds /* now_us */) {}
  // When it acts by itself.
  Microseconds next_us() const { return next_us_; }
  virtual void act(TcpSender& /* sender */, Microseconds /* now_us */) {}

 protected:
  Microseconds next_us_ = never;
};

// Sends the data that TCP has from the beginning.
class Transfer final : public Application {
 public:
  // The meter may be null, and must outlive it.
  explicit Transfer(FlowMeter* meter) : meter_(meter) {}

  void acknowledged(const TcpSender& sender, Microseconds now_us) override {
    if (meter_ == nullptr or not sender.is_done()) return;
    meter_->completed(now_us);
    meter_ = nullptr;
  }

 private:
  FlowMeter* meter_;
};

// Like HTTP over one connection: the receiver of a flow is a client, which opens the connection and
// sends a request, and sends the next request some time after the answer.
struct Exchange {
  // A request fits an initial window (RFC 6928), so that it needs no controller.
  static constexpr uint64_t max_request_segments = 10;

  uint64_t request_bytes;
  uint64_t answer_segments;
  uint64_t requests;
  Microseconds think_us;

  uint64_t request_segments() const {
    return (request_bytes + tcp_payload_bytes - 1) / tcp_payload_bytes;
  }
};

class Server final : public Application {
 public:
  explicit Server(const Exchange& exchange) : exchange_(exchange) {}

  void received(uint64_t in_order, TcpSender& sender, Microseconds) override {
    for (; in_order >= (answered_ + 1) * exchange_.request_segments(); ++answered_) {
      sender.offer(exchange_.answer_segments);
    }
  }

 private:
  Exchange exchange_;
  uint64_t answered_ = 0;
};

class Client final : public Application {
 public:
  // The meter may be null, and must outlive it.
  Client(const Exchange& exchange, Microseconds start_us, Microseconds stop_us, FlowMeter* meter)
      : exchange_(exchange), stop_us_(stop_us), meter_(meter) {
    next_us_ = start_us;  // the first request opens the connection
  }

  // The last segment of a request carries the rest of it.
  uint16_t bytes_of(uint64_t number) const override {
    const uint64_t sent = number % exchange_.request_segments() * tcp_payload_bytes;
    const uint64_t rest = std::min<uint64_t>(exchange_.request_bytes - sent, tcp_payload_bytes);
    return static_cast<uint16_t>(tcp_acknowledgment_bytes + rest);
  }

  void received(uint64_t in_order, TcpSender&, Microseconds now_us) override {
    if (answered_ == exchange_.requests) return;
    if (in_order < (answered_ + 1) * exchange_.answer_segments) return;
    ++answered_;
    const bool is_last = answered_ == exchange_.requests;
    if (not is_last) next_us_ = now_us + exchange_.think_us;
    if (meter_ == nullptr) return;
    meter_->answered(asked_us_, now_us);
    if (is_last) meter_->completed(now_us);
  }

  void act(TcpSender& sender, Microseconds now_us) override {
    next_us_ = never;
    if (now_us >= stop_us_) return;
    asked_us_ = now_us;
    if (answered_ == 0) sender.start();
    sender.offer(exchange_.request_segments());
  }

 private:
  Exchange exchange_;
  Microseconds stop_us_;
  FlowMeter* meter_;
  Microseconds asked_us_ = 0;
  uint64_t answered_ = 0;
};

}  // namespace kneepoint
