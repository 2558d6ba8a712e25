// A TCP sender with an open connection, and a controller that records its calls.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/controller.hh"
#include "tests/check.hh"
#include "tests/running.hh"
#include "transport/tcp_sender.hh"

namespace kneepoint::test {

// Has a window of ten packets, and of five after a loss; records its calls.
class Halving final : public Controller {
 public:
  explicit Halving(Parameters parameters = Parameters()) : Controller(parameters, 1000) {}
  double window() const override { return cwnd; }
  void on_ack(const Ack& ack) override { acks.push_back(ack); }
  void on_loss(const Loss& loss) override {
    losses.push_back(loss);
    cwnd = loss.kind == Loss::Kind::timed_out ? 1 : 5;
  }
  void on_undo(const Undo&) override {
    ++undone;
    cwnd = 10;
  }
  size_t timeouts() const {
    return static_cast<size_t>(std::ranges::count(losses, Loss::Kind::timed_out, &Loss::kind));
  }

  double cwnd = 10;
  std::vector<Ack> acks{};
  std::vector<Loss> losses{};
  int undone = 0;
};

// A sender whose connection was opened at time 0, with an RTT of 100 ms.
struct Opened {
  explicit Opened(const TcpSettings& settings = {}, uint64_t segments = 100, bool governs = false)
      : sender(0, handle_of(controller, governs), settings, segments, nullptr) {
    sender.start();
    EXPECT_EQUAL(sender.send(0)->is_syn, true);
    sender.acknowledged({.is_of_syn = true, .window_packets = 1000}, 100'000);
  }

  // The numbers of the segments that leave now.
  std::string send(Microseconds now_us) {
    std::string numbers;
    while (const auto segment = sender.send(now_us)) {
      numbers += std::to_string(segment->number) + " ";
      retransmissions += segment->is_retransmission;
    }
    return numbers;
  }

  void acknowledge(uint64_t next, std::vector<SackBlock> blocks, Microseconds now_us,
                   Microseconds echo_us = 0) {
    TcpAcknowledgment ack{.next_expected = next, .window_packets = 1000, .echo_us = echo_us};
    for (const SackBlock& block : blocks) ack.blocks[ack.block_count++] = block;
    sender.acknowledged(ack, now_us);
  }

  // Receives an acknowledgment that echoes a mark.
  void echo(uint64_t next, Microseconds now_us) {
    sender.acknowledged({.next_expected = next, .window_packets = 1000, .echoes_mark = true},
                        now_us);
  }

  Halving controller{};
  TcpSender sender;
  uint64_t retransmissions = 0;
};

}  // namespace kneepoint::test
