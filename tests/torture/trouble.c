/* Trouble for the calls of one process: preloaded, it does nothing until `trouble` or `step_clock` is called.
 * Programs that it is preloaded into as well read their own trouble from the variable TROUBLE: error,after,times,folder.
 *
 *   cc -O1 -shared -fPIC -o trouble.so trouble.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char under[PATH_MAX];          /* files below this folder are in trouble; empty: none */
static int error_number;              /* what the call fails with; 0: it is slow */
static long calls_left, failures_left; /* calls that still go well, then those that fail (below 0: all) */
static int forks_fail;
static long clock_calls_left = -1, clock_step_s;
static const long *clock_ahead_s; /* what all clocks of the time of day are ahead by, in a file that somebody else writes */

void trouble(const char *folder, int error, long after, long times) {
    error_number = error;
    calls_left = after;
    failures_left = times;
    strncpy(under, folder, sizeof under - 1);
}

__attribute__((constructor)) static void trouble_of_environment(void) {
    const char *told = getenv("TROUBLE");
    int error, folder;
    long after, times;
    if (told && sscanf(told, "%d,%ld,%ld,%n", &error, &after, &times, &folder) == 3) trouble(told + folder, error, after, times);
}

void no_processes(void) { forks_fail = 1; }

void step_clock(long after, long seconds) {
    clock_step_s = seconds;
    clock_calls_left = after;
}

void follow_clock(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    void *told = mmap(NULL, sizeof *clock_ahead_s, PROT_READ, MAP_SHARED, descriptor, 0);
    if (told != MAP_FAILED) clock_ahead_s = told;
    close(descriptor);
}

/* Whether this call is one that fails; a slow one is slow here and then goes well. */
static int fails(const char *path) {
    if (!under[0] || strncmp(path, under, strlen(under)) || calls_left-- > 0 || failures_left == 0) return 0;
    if (failures_left > 0) failures_left--;
    if (!error_number) {
        usleep(20000);
        return 0;
    }
    errno = error_number;
    return 1;
}

static int fails_open(int descriptor) {
    char name[64], path[PATH_MAX];
    struct stat kind;
    if (!under[0] || fstat(descriptor, &kind) || !S_ISREG(kind.st_mode)) return 0; /* a pipe is on no disk */
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int descriptor, const void *bytes, size_t length) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (fails_open(descriptor)) {
        int because = errno;
        /* A torn write: half of it is there, and the call failed. The kernel takes what its own files are told whole or not at
           all; half the number of a process would move another one. */
        if (length > 1 && strncmp(under, "/sys/", 5)) real(descriptor, bytes, length / 2);
        errno = because;
        return -1;
    }
    return real(descriptor, bytes, length);
}

#define ON_DESCRIPTOR(name) \
    int name(int descriptor) { \
        REAL(int, #name, int); \
        return fails_open(descriptor) ? -1 : real(descriptor); \
    }
ON_DESCRIPTOR(fsync)
ON_DESCRIPTOR(fdatasync)

#define ON_LENGTH(name) \
    int name(int descriptor, off_t length) { \
        REAL(int, #name, int, off_t); \
        return fails_open(descriptor) ? -1 : real(descriptor, length); \
    }
ON_LENGTH(ftruncate)
ON_LENGTH(ftruncate64)

#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, #name, const char *, int, ...); \
        va_list more; \
        va_start(more, flags); \
        int mode = va_arg(more, int); \
        va_end(more); \
        return (flags & (O_WRONLY | O_RDWR)) && fails(path) ? -1 : real(path, flags, mode); \
    }
OPENING(open)
OPENING(open64)

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return fails(to) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return fails(path) ? -1 : real(path, mode);
}

pid_t fork(void) {
    REAL(pid_t, "fork", void);
    if (!forks_fail) return real();
    errno = EAGAIN;
    return -1;
}

pid_t vfork(void) { return fork(); } /* one that returns from a function of its own may not be a vfork */

int clock_gettime(clockid_t which, struct timespec *told) {
    REAL(int, "clock_gettime", clockid_t, struct timespec *);
    int code = real(which, told);
    if (which == CLOCK_REALTIME && clock_calls_left >= 0) {
        if (clock_calls_left > 0) clock_calls_left--;
        else told->tv_sec += clock_step_s;
    }
    if (clock_ahead_s && which == CLOCK_REALTIME) told->tv_sec += *clock_ahead_s;
    return code;
}
