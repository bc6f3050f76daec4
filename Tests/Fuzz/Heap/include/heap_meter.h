#pragma once
#include <stdbool.h>
#include <stddef.h>

/// What the calling thread allocates between `heap_meter_begin` and `heap_meter_end`.
void heap_meter_begin(void);
/// - Returns: the most bytes that were allocated at one time and not freed.
size_t heap_meter_end(void);
/// While it is paused, what is allocated and freed does not count. Pauses nest.
void heap_meter_pause(void);
void heap_meter_resume(void);
