#include "heap_meter.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>

// The allocator of this process is glibc's, behind functions that count for the thread that asks. Other threads pay a
// look at a thread-local flag.

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
  bool is_on;
  int pauses;
  ptrdiff_t live, peak;
} meter;

void heap_meter_begin(void) {
  meter.live = meter.peak = 0;
  meter.pauses = 0;
  meter.is_on = true;
}

size_t heap_meter_end(void) {
  meter.is_on = false;
  return (size_t)meter.peak;
}

void heap_meter_pause(void) { meter.pauses += 1; }
void heap_meter_resume(void) { meter.pauses -= 1; }

static void came(size_t bytes) {
  if (!meter.is_on || meter.pauses > 0) return;
  meter.live += (ptrdiff_t)bytes;
  if (meter.live > meter.peak) meter.peak = meter.live;
}

static void went(size_t bytes) {
  if (meter.is_on && meter.pauses == 0) meter.live -= (ptrdiff_t)bytes;
}

#if __has_feature(thread_sanitizer)

// Nothing is counted: tests of what decoders cost run without this sanitizer.

#elif __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)

// Sanitizers have an allocator of their own, with hooks (sanitizer/allocator_interface.h).
extern int __sanitizer_install_malloc_and_free_hooks(
    void (*came)(const volatile void *, size_t), void (*went)(const volatile void *));
extern size_t __sanitizer_get_allocated_size(const volatile void *);

static void sanitizer_came(const volatile void *place, size_t bytes) { came(bytes); }
static void sanitizer_went(const volatile void *place) {
  if (meter.is_on && place) went(__sanitizer_get_allocated_size(place));
}

__attribute__((constructor)) static void install(void) {
  __sanitizer_install_malloc_and_free_hooks(sanitizer_came, sanitizer_went);
}

#else

// malloc(3), "Replacing malloc" of the glibc manual: these are what is replaced; the rest of its functions use them not.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *counted(void *place) {
  if (meter.is_on && place) came(malloc_usable_size(place));
  return place;
}

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) { return counted(__libc_calloc(count, bytes)); }
void *memalign(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }
void *aligned_alloc(size_t alignment, size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }

int posix_memalign(void **place, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void *made = __libc_memalign(alignment, bytes);
  if (!made) return ENOMEM;
  *place = counted(made);
  return 0;
}

void *realloc(void *place, size_t bytes) {
  size_t before = meter.is_on && place ? malloc_usable_size(place) : 0;
  void *moved = __libc_realloc(place, bytes);
  if (moved || bytes == 0) {
    // Both may have been there at once.
    if (moved != place) counted(moved), went(before);
    else if (meter.is_on && moved) went(before), came(malloc_usable_size(moved));
  }
  return moved;
}

void free(void *place) {
  if (meter.is_on && place) went(malloc_usable_size(place));
  __libc_free(place);
}

#endif
