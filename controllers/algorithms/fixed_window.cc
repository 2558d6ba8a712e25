// A constant window. Reports 000 section 1, 001 exercise A, 002 part A, 004 exercise A.
#include "algorithms/registry.hh"

namespace kneepoint {
namespace {

class FixedWindow final : public Controller {
 public:
  explicit FixedWindow(Parameters& parameters)
      : Controller(parameters, 1000),
        window_(parameters.integer("window", 50,
                                   {.low = 1, .high = 100, .min = 1, .scale = Scale::log},
                                   "packets", "datagrams in flight")) {}

  double window() const override { return window_; }

 private:
  double window_;
};

const Registration<FixedWindow> registration{
    "fixed_window", "keeps the same number of datagrams in flight", "reports 000, 001, 002, 004"};

}  // namespace
}  // namespace kneepoint
