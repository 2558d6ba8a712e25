#include "links/impairment.hh"

namespace kneepoint {

std::unique_ptr<Impairment> make_impairment(const std::string& description, uint64_t seed) {
  const Notation given("impairment", description, impairment_kinds());
  return ImpairmentRegistration::maker(given.kind())(given, Random(seed));
}

const Kinds& impairment_kinds() { return ImpairmentRegistration::kinds(); }

}  // namespace kneepoint
