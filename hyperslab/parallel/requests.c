/* Preloaded into each rank: counts the requests made to one file, and makes each take longer.

   What it adds is the same for each request whatever its size, and requests of several ranks wait
   side by side. Mapped memory and asynchronous calls are not seen.

   HYPERSLAB_REQUESTS_FILE   the file, as the end of its path
   HYPERSLAB_REQUESTS_NS     nanoseconds that each request takes longer
   HYPERSLAB_REQUESTS_ROOM   bytes after which this rank's disk is full, for tests */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES 4096
#define COUNTS 6

/* writes, bytes written, reads, bytes read, requests that failed, the error of the last of them */
static long long counts[COUNTS];
static long long nanoseconds, room = -1;
static const char *wanted;
static char counted[FILES];

void hyperslab_requests(long long *into)
{
    for (int i = 0; i < COUNTS; i++)
        into[i] = __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void begin(void)
{
    wanted = getenv("HYPERSLAB_REQUESTS_FILE");
    const char *wait = getenv("HYPERSLAB_REQUESTS_NS"), *size = getenv("HYPERSLAB_REQUESTS_ROOM");
    nanoseconds = wait ? atoll(wait) : 0;
    room = size ? atoll(size) : -1;
    if (nanoseconds > 0)
        prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0); /* else each wait is up to 50 us longer */
}

static void mark(int fd, const char *path)
{
    if (fd < 0 || fd >= FILES)
        return;
    size_t have = path ? strlen(path) : 0, need = wanted ? strlen(wanted) : 0;
    counted[fd] = need && have >= need && !strcmp(path + have - need, wanted);
}

static int seen(int fd) { return fd >= 0 && fd < FILES && counted[fd]; }

static void add(int place, long long value)
{
    __atomic_fetch_add(&counts[place], value, __ATOMIC_RELAXED);
}

static ssize_t done(ssize_t got, int reads)
{
    int error = errno;
    if (got < 0) {
        add(4, 1);
        __atomic_store_n(&counts[5], error, __ATOMIC_RELAXED);
    } else {
        add(reads ? 2 : 0, 1);
        add(reads ? 3 : 1, got);
    }
    if (nanoseconds > 0) {
        struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
        while (nanosleep(&left, &left) && errno == EINTR)
            ;
    }
    errno = error;
    return got;
}

static size_t size_of(const struct iovec *vectors, int count)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += vectors[i].iov_len;
    return sum;
}

static int full(size_t size)
{
    if (room < 0 || counts[1] + (long long)size <= room)
        return 0;
    errno = ENOSPC;
    return 1;
}

#define NEXT(result, name, ...)                                                                    \
    static result (*next)(__VA_ARGS__);                                                            \
    if (!next)                                                                                     \
        next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define NAMED_MODE(flags) (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE)

#define WITHOUT(...) __VA_ARGS__

#define OPENS(name, parameters, ...)                                                               \
    int name parameters                                                                            \
    {                                                                                              \
        NEXT(int, name, WITHOUT parameters);                                                       \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = NAMED_MODE(flags) ? va_arg(rest, mode_t) : 0;                                \
        va_end(rest);                                                                              \
        int fd = next(__VA_ARGS__, mode);                                                          \
        mark(fd, path);                                                                            \
        return fd;                                                                                 \
    }

OPENS(open, (const char *path, int flags, ...), path, flags)
OPENS(open64, (const char *path, int flags, ...), path, flags)
OPENS(openat, (int folder, const char *path, int flags, ...), folder, path, flags)
OPENS(openat64, (int folder, const char *path, int flags, ...), folder, path, flags)

/* What programs call that were compiled with their buffers checked. */
int __open_2(const char *path, int flags) { return open(path, flags); }
int __open64_2(const char *path, int flags) { return open64(path, flags); }

int close(int fd)
{
    NEXT(int, close, int);
    if (fd >= 0 && fd < FILES)
        counted[fd] = 0;
    return next(fd);
}

#define WRITES(name, size, parameters, ...)                                                        \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        NEXT(ssize_t, name, WITHOUT parameters);                                                   \
        if (!seen(fd))                                                                             \
            return next(__VA_ARGS__);                                                              \
        return done(full(size) ? -1 : next(__VA_ARGS__), 0);                                       \
    }
#define READS(name, parameters, ...)                                                               \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        NEXT(ssize_t, name, WITHOUT parameters);                                                   \
        ssize_t got = next(__VA_ARGS__);                                                           \
        return seen(fd) ? done(got, 1) : got;                                                      \
    }

WRITES(write, n, (int fd, const void *from, size_t n), fd, from, n)
WRITES(pwrite, n, (int fd, const void *from, size_t n, off_t at), fd, from, n, at)
WRITES(pwrite64, n, (int fd, const void *from, size_t n, off64_t at), fd, from, n, at)
WRITES(writev, size_of(v, n), (int fd, const struct iovec *v, int n), fd, v, n)
WRITES(pwritev, size_of(v, n), (int fd, const struct iovec *v, int n, off_t at), fd, v, n, at)
WRITES(pwritev64, size_of(v, n), (int fd, const struct iovec *v, int n, off64_t at), fd, v, n, at)
READS(read, (int fd, void *to, size_t n), fd, to, n)
READS(pread, (int fd, void *to, size_t n, off_t at), fd, to, n, at)
READS(pread64, (int fd, void *to, size_t n, off64_t at), fd, to, n, at)
READS(readv, (int fd, const struct iovec *v, int n), fd, v, n)
READS(preadv, (int fd, const struct iovec *v, int n, off_t at), fd, v, n, at)
READS(preadv64, (int fd, const struct iovec *v, int n, off64_t at), fd, v, n, at)
READS(__read_chk, (int fd, void *to, size_t n, size_t all), fd, to, n, all)
READS(__pread_chk, (int fd, void *to, size_t n, off_t at, size_t all), fd, to, n, at, all)
READS(__pread64_chk, (int fd, void *to, size_t n, off64_t at, size_t all), fd, to, n, at, all)
