// The options that describe an entry, in virtual and in real time.
#pragma once

#include "apps/options.hh"
#include "entries/settings.hh"

namespace kneepoint {

// Returns options that store their values in the settings, which must outlive the options.
Options entry_options(EntrySettings& entry);

}  // namespace kneepoint
