// The options that describe an entry, in virtual and in real time.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "entries/settings.hh"

namespace kneepoint {

using TakeEntryOption = std::function<void(EntrySettings& entry, const std::string& value)>;

// What takes the value of each. It throws std::invalid_argument for a bad one.
const std::map<std::string, TakeEntryOption>& entry_options();

}  // namespace kneepoint
