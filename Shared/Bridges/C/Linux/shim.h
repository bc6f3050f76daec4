#pragma once
#include <stddef.h>
#include <stdint.h>
// Missing from the toolchain's Glibc module.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <malloc.h>
#include <string.h>
#include <sys/timex.h>

// Linux's own calls, which glibc declares under _GNU_SOURCE only, and that cannot be had of the Glibc module.
extern int CLinux_fallocate(int file, int mode, int64_t offset, int64_t length) __asm__("fallocate64");
extern int CLinux_sync_file_range(int file, int64_t offset, int64_t length, unsigned flags) __asm__("sync_file_range");
// <sched.h>; a mask has a bit for each processor.
extern int CLinux_processor(void) __asm__("sched_getcpu");
extern int CLinux_get_affinity(int thread, size_t bytes, uint64_t *mask) __asm__("sched_getaffinity");
extern int CLinux_set_affinity(int thread, size_t bytes, const uint64_t *mask) __asm__("sched_setaffinity");

// <linux/falloc.h>: the range reads as zeros and takes no space; the file keeps its size.
static const int CLinux_punch_hole = 0x02 | 0x01;
// <fcntl.h>, SYNC_FILE_RANGE_WRITE: starts writing dirty pages and does not wait.
static const unsigned CLinux_start_writing = 2;

// Whether somebody keeps the kernel's clock right (adjtimex(2)).
static inline int CLinux_clock_is_synchronised(void) {
  struct timex state;
  memset(&state, 0, sizeof state);
  int code = adjtimex(&state);
  return code >= 0 && code != TIME_ERROR && !(state.status & STA_UNSYNC);
}
