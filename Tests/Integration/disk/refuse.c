// Has the kernel refuse a process whatever takes a disk or a descriptor, for as long as somebody says so.
//
// Loaded with LD_PRELOAD. The file $REFUSALS/NAME (NAME is the program's) holds the number of an error. While it is
// there, calls fail with that error: ENOSPC and EIO what writes to files, EROFS what writes or makes files, EMFILE what
// makes descriptors. Pipes and sockets are left alone, and files that do not lie under $REFUSED.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The error that is asked for now; 0: none. It is read by system calls, for the library's own are the ones below.
static int wanted(void) {
  static char path[PATH_MAX];
  if (!path[0]) {
    const char *folder = getenv("REFUSALS");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/nonexistent", program_invocation_short_name);
  }
  int saved = errno, error = 0;
  long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    char text[16] = "";
    if (syscall(SYS_read, file, text, sizeof text - 1) > 0) error = atoi(text);
    syscall(SYS_close, file);
  }
  errno = saved;
  return error;
}

static int lies_below(const char *path) {
  const char *root = getenv("REFUSED");
  return root && strncmp(path, root, strlen(root)) == 0;
}

// Whether the name, as seen from the folder, lies under $REFUSED.
static int is_below(int folder, const char *name) {
  if (name[0] == '/') return lies_below(name);
  char link[64], path[PATH_MAX] = "";
  if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t size = readlink(link, path, sizeof path - 1);
  return size > 0 && lies_below(path);
}

static int is_file(int file) {
  struct stat facts;
  int saved = errno;
  int is = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && is_below(file, "");
  errno = saved;
  return is;
}

static int refuses_write(int file) {
  int error = wanted();
  return (error == ENOSPC || error == EIO || error == EROFS) && is_file(file) ? error : 0;
}

static int refuses_open(int folder, const char *name, int flags) {
  int error = wanted();
  if (error == EMFILE) return error;
  int makes = flags & O_CREAT, writes = (flags & O_ACCMODE) != O_RDONLY;
  if (!is_below(folder, name)) return 0;
  if (error == EROFS && (makes || writes)) return error;
  return (error == ENOSPC || error == EIO) && makes ? error : 0;
}

static int refuses_name(int folder, const char *name) {
  int error = wanted();
  return (error == ENOSPC || error == EIO || error == EROFS) && is_below(folder, name) ? error : 0;
}

static int refuses_descriptor(void) { return wanted() == EMFILE ? EMFILE : 0; }

// Each refusal leaves a byte in $REFUSALS/NAME.met, so that the test knows that something was refused.
static int refused(int error) {
  char path[PATH_MAX];
  const char *folder = getenv("REFUSALS");
  snprintf(path, sizeof path, "%s/%s.met", folder ? folder : "/nonexistent", program_invocation_short_name);
  long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) {
    syscall(SYS_write, file, ".", 1);
    syscall(SYS_close, file);
  }
  errno = error;
  return -1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FAIL_IF(question) \
  do { int refusal = (question); if (refusal) return refused(refusal); } while (0)
#define OPEN(function, parameters, folder, before) \
  int function parameters { \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); } \
    FAIL_IF(refuses_open(folder, name, flags)); \
    REAL(function); \
    return real before; \
  }

OPEN(open, (const char *name, int flags, ...), AT_FDCWD, (name, flags, mode))
OPEN(open64, (const char *name, int flags, ...), AT_FDCWD, (name, flags, mode))
OPEN(openat, (int folder, const char *name, int flags, ...), folder, (folder, name, flags, mode))
OPEN(openat64, (int folder, const char *name, int flags, ...), folder, (folder, name, flags, mode))

#define WRITE(result, function, parameters, before) \
  result function parameters { FAIL_IF(refuses_write(file)); REAL(function); return real before; }

WRITE(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count))
WRITE(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at))
WRITE(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at))
WRITE(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count))
WRITE(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t at), (file, parts, count, at))
WRITE(int, ftruncate, (int file, off_t size), (file, size))
WRITE(int, ftruncate64, (int file, off64_t size), (file, size))
WRITE(int, fsync, (int file), (file))
WRITE(int, fdatasync, (int file), (file))
// On this file system it says so by its value, not by errno.
int posix_fallocate(int file, off_t at, off_t size) {
  int refusal = refuses_write(file);
  if (refusal) return refused(refusal), refusal;
  REAL(posix_fallocate);
  return real(file, at, size);
}

#define NAME(function, parameters, folder, name, before) \
  int function parameters { FAIL_IF(refuses_name(folder, name)); REAL(function); return real before; }

NAME(mkdir, (const char *name, mode_t mode), AT_FDCWD, name, (name, mode))
NAME(mkdirat, (int folder, const char *name, mode_t mode), folder, name, (folder, name, mode))
NAME(rename, (const char *old, const char *name), AT_FDCWD, name, (old, name))
NAME(renameat, (int from, const char *old, int folder, const char *name), folder, name, (from, old, folder, name))
NAME(link, (const char *old, const char *name), AT_FDCWD, name, (old, name))
NAME(linkat, (int from, const char *old, int folder, const char *name, int flags), folder, name,
     (from, old, folder, name, flags))

int socket(int domain, int type, int protocol) {
  FAIL_IF(refuses_descriptor());
  REAL(socket);
  return real(domain, type, protocol);
}
int accept4(int file, struct sockaddr *address, socklen_t *size, int flags) {
  FAIL_IF(refuses_descriptor());
  REAL(accept4);
  return real(file, address, size, flags);
}
int accept(int file, struct sockaddr *address, socklen_t *size) {
  FAIL_IF(refuses_descriptor());
  REAL(accept);
  return real(file, address, size);
}
