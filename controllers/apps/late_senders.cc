// late_senders: the power of senders that learn of each opportunity one round trip late.
//
// They see every opportunity, used or not, as soon as its acknowledgment could be back, and keep a
// window in flight: by millisecond t, as many packets have reached the link as had left it by t
// less the round trip, and the window. The link's queue has no limit; the host takes no time.
//
// The logarithm of the fitted window is a quadratic function of the logarithms of the mean rates
// over the last 40, 200 and 1000 ms, with the coefficients whose power on this very trace is the
// greatest that the cross-entropy method finds (Rubinstein: Methodology and Computing in Applied
// Probability 1, 1999). The forecasting window is what passes within the round trip and a delay,
// with a probability, in the trace's own distribution given the rate over 100 ms; of all delays and
// probabilities those of the greatest power.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "apps/program.hh"
#include "common/portable_math.hh"
#include "common/random.hh"
#include "common/text.hh"
#include "links/trace.hh"
#include "transport/packet.hh"

namespace {

using namespace kneepoint;

const char* const usage =
    R"(usage: late_senders TRACE END_MS ROUND_TRIP_MS

Prints the power (Mbit/s/s) of a fitted window; of one that was fitted to every other block of 10 s, on
those and on the rest; and of a forecasting one. TRACE repeats until END_MS.
)";

constexpr std::array<size_t, 3> spans_ms{40, 200, 1000};
constexpr size_t forecast_span_ms = 100;
constexpr size_t terms = 10;  // 1, three logarithms, their six products
constexpr size_t block_ms = 10'000;
constexpr int generations = 30;
constexpr size_t population = 48;
constexpr size_t parents = 8;
constexpr uint32_t widest = 5000;
constexpr size_t longest_age_ms = 60'000;

using Coefficients = std::array<double, terms>;
using Windows = std::vector<uint32_t>;  // of each millisecond
using Counted = std::vector<bool>;      // whether a millisecond counts

class Link {
 public:
  Link(const Trace& trace, size_t end_ms, size_t round_trip_ms)
      : passed_(end_ms + 1), late_ms_(round_trip_ms) {
    uint32_t total = 0;
    size_t next = 0;
    size_t lap_ms = 0;
    for (size_t t = 0; t <= end_ms; ++t) {
      while (lap_ms + static_cast<size_t>(trace[next]) == t) {
        ++total;
        if (++next < trace.size()) continue;
        next = 0;
        lap_ms += static_cast<size_t>(trace.last_ms());
      }
      passed_[t] = total;
    }
    for (size_t t = 0; t <= end_ms; ++t) {
      auto& term = known_.emplace_back();
      term[0] = 1;
      for (size_t k = 0; k < spans_ms.size(); ++k) {
        const auto span = static_cast<double>(spans_ms[k]);
        term[k + 1] = 1 + portable::log((known_within(t, spans_ms[k]) + 0.5) / span);
      }
      size_t place = spans_ms.size() + 1;
      for (size_t i = 1; i <= spans_ms.size(); ++i) {
        for (size_t k = i; k <= spans_ms.size(); ++k) term[place++] = term[i] * term[k];
      }
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      steps_[i] = static_cast<uint32_t>(portable::exp(static_cast<double>(i) / steps_per_e));
    }
  }

  size_t size() const { return passed_.size(); }

  double power(const Windows& windows, const Counted& counts) const {
    std::vector<uint32_t> left(size());
    std::vector<uint32_t> reached(size());
    std::vector<size_t> left_ms;  // of each packet
    uint32_t capacity = 0;
    for (size_t t = 0; t < size(); ++t) {
      const uint32_t before = t > 0 ? left[t - 1] : 0;
      const uint32_t arrived = t > 0 ? reached[t - 1] : 0;
      left[t] = before + std::min(arrived - before, passed_[t] - capacity);
      capacity = passed_[t];
      left_ms.resize(left[t], t);
      reached[t] = std::max(arrived, windows[t] + (t >= late_ms_ ? left[t - late_ms_] : 0));
    }
    // The signal's age in a millisecond is how long the next packet that arrives will take.
    std::vector<size_t> ages(longest_age_ms + 1);
    size_t aged = 0;
    size_t packets = 0;
    size_t counted_ms = 0;
    for (size_t t = 0; t < size(); ++t) {
      if (not counts[t]) continue;
      ++counted_ms;
      packets += left[t] - (t > 0 ? left[t - 1] : 0);
      const size_t next = t > 0 ? reached[t - 1] : 0;
      if (next >= left_ms.size()) continue;
      ++ages[std::min(left_ms[next] - t, longest_age_ms)];
      ++aged;
    }
    if (packets == 0 or aged == 0) return 0;
    size_t beyond = aged * 95 / 100;
    size_t age_ms = 0;
    while (beyond >= ages[age_ms]) beyond -= ages[age_ms++];
    const double mbps = static_cast<double>(packets * datagram_bytes * 8) /
                        (1000 * static_cast<double>(counted_ms));
    return mbps / (static_cast<double>(std::max<size_t>(age_ms, 1)) / 1000);
  }

  Windows windows(const Coefficients& coefficients) const {
    Windows found(size());
    for (size_t t = 0; t < size(); ++t) {
      double log_window = 0;
      for (size_t k = 0; k < terms; ++k) log_window += coefficients[k] * known_[t][k];
      const double place = log_window * steps_per_e;
      found[t] =
          not(place > 0) ? 1 : steps_[std::min(static_cast<size_t>(place), steps_.size() - 1)];
    }
    return found;
  }

  // The best coefficients of each generation are the parents of the next.
  Coefficients fit(const Counted& counts) const {
    struct Child {
      Coefficients coefficients;
      double power;
    };
    Random random(1);
    Coefficients mean{};  // first what passes in 60 ms at the mean of the rates
    mean[0] = portable::log(60) - 1;
    Coefficients spread;
    spread.fill(0.08);
    spread[0] = 0.3;
    for (size_t k = 1; k <= spans_ms.size(); ++k) {
      mean[k] = 1.0 / spans_ms.size();
      spread[k] = 0.2;
    }
    Child best{mean, power(windows(mean), counts)};
    for (int generation = 0; generation < generations; ++generation) {
      std::vector<Child> children{best};
      while (children.size() < population) {
        Coefficients drawn;
        for (size_t k = 0; k < terms; ++k) drawn[k] = mean[k] + spread[k] * draw_normal(random);
        children.push_back({drawn, power(windows(drawn), counts)});
      }
      std::ranges::stable_sort(children, std::ranges::greater{}, &Child::power);
      best = children.front();
      children.resize(parents);
      for (size_t k = 0; k < terms; ++k) {
        double sum = 0;
        double squares = 0;
        for (const Child& child : children) sum += child.coefficients[k];
        mean[k] = sum / parents;
        for (const Child& child : children) {
          squares += (child.coefficients[k] - mean[k]) * (child.coefficients[k] - mean[k]);
        }
        spread[k] = std::sqrt(squares / parents);
      }
    }
    return best.coefficients;
  }

  // The greatest power of a forecasting window.
  double forecast_power(const Counted& counts) const {
    double best = 0;
    for (size_t delay_ms = 10; delay_ms <= 150; delay_ms += 10) {
      // What passed after each rate, in the order of time, then of size.
      std::vector<std::vector<uint32_t>> after(most_within(forecast_span_ms) + 1);
      const size_t ahead_ms = late_ms_ + delay_ms;
      for (size_t t = forecast_span_ms; t + ahead_ms < size(); ++t) {
        after[passed_[t] - passed_[t - forecast_span_ms]].push_back(passed_[t + ahead_ms] -
                                                                    passed_[t]);
      }
      for (auto& each : after) std::ranges::sort(each);
      for (const double probability : {0.5, 0.7, 0.8, 0.9, 0.95, 0.98}) {
        Windows found(size(), 1);
        for (size_t t = 0; t < size(); ++t) {
          const auto& each = after[static_cast<size_t>(known_within(t, forecast_span_ms))];
          const auto place =
              static_cast<size_t>((1 - probability) * static_cast<double>(each.size()));
          if (not each.empty()) found[t] = std::clamp(each[place], 1u, widest);
        }
        best = std::max(best, power(found, counts));
      }
    }
    return best;
  }

 private:
  // Opportunities of the last span that a late sender knows of.
  double known_within(size_t t, size_t span_ms) const {
    if (t < late_ms_) return 0;
    const size_t last = t - late_ms_;
    return passed_[last] - (last >= span_ms ? passed_[last - span_ms] : 0);
  }

  size_t most_within(size_t span_ms) const {
    uint32_t most = passed_[std::min(span_ms, size() - 1)];
    for (size_t t = span_ms; t < size(); ++t)
      most = std::max(most, passed_[t] - passed_[t - span_ms]);
    return most;
  }

  static constexpr double steps_per_e = 128;

  std::vector<uint32_t> passed_;  // opportunities by each millisecond
  size_t late_ms_;
  std::vector<Coefficients> known_{};   // terms of each millisecond
  std::array<uint32_t, 1090> steps_{};  // windows up to 5000 by their logarithm
};

int run(const Words& words) {
  if (words.size() != 3) throw std::invalid_argument("TRACE END_MS ROUND_TRIP_MS; see --help");
  const Trace trace = Trace::load(words[0]);
  const uint64_t end_ms = to_whole(words[1], "END_MS");
  const Link link(trace, end_ms, to_whole(words[2], "ROUND_TRIP_MS"));
  const Counted everywhere(link.size(), true);
  Counted even(link.size());
  Counted odd(link.size());
  for (size_t t = 0; t < link.size(); ++t) (t / block_ms % 2 == 0 ? even : odd)[t] = true;
  const Windows of_even = link.windows(link.fit(even));
  std::cout << "{\"fitted\": "
            << to_text(link.power(link.windows(link.fit(everywhere)), everywhere))
            << ", \"even\": " << to_text(link.power(of_even, even))
            << ", \"odd\": " << to_text(link.power(of_even, odd))
            << ", \"forecast\": " << to_text(link.forecast_power(everywhere)) << "}\n";
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program(argc, argv, usage, run); }
