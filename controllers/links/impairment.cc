#include "links/impairment.hh"

#include <map>

namespace kneepoint {

namespace {

// Inside functions, so that they exist before the first registration.
Kinds& kinds() {
  static Kinds all;
  return all;
}

std::map<std::string, MakeImpairment>& makers() {
  static std::map<std::string, MakeImpairment> all;
  return all;
}

}  // namespace

ImpairmentRegistration::ImpairmentRegistration(const std::string& name, const Kind& kind,
                                               MakeImpairment make) {
  kinds().emplace(name, kind);
  makers().emplace(name, make);
}

std::unique_ptr<Impairment> make_impairment(const std::string& description, uint64_t seed) {
  const Notation given("impairment", description, kinds());
  return makers().at(given.kind())(given, Random(seed));
}

const Kinds& impairment_kinds() { return kinds(); }

}  // namespace kneepoint
