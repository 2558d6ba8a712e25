// Time in whole milliseconds since this process first asked for it.
#pragma once

#include <cstdint>
#include <ctime>

uint64_t timestamp_ms();
uint64_t timestamp_ms(const timespec& time);
