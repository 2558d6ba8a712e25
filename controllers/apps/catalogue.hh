// The catalogue of everything that a scenario can name.
#pragma once

#include <string>

namespace kneepoint {

// Returns controllers with their parameters, queues, host models and impairments, as JSON.
std::string catalogue();

}  // namespace kneepoint
