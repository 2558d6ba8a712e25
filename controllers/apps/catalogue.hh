// What there is to choose from.
#pragma once

#include <string>

namespace kneepoint {

// As JSON: controllers with their parameters, queues, host models, impairments.
std::string catalogue();

}  // namespace kneepoint
