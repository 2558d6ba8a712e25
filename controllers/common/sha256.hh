// The Secure Hash Algorithm SHA-256 (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace kneepoint {

// The digest of some bytes, in lower-case hexadecimal.
std::string sha256(std::string_view content);

}  // namespace kneepoint
