/* Preloaded into a Python process, sees every call by which a file below one folder changes or becomes durable, writes
 * it down, and makes a chosen one fail, be cut in half or be the process's last.
 *
 * Built by preload.py. Armed from Python through ctypes; one thread at a time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { WATCH, FAIL_ONCE, FAIL_FROM, KILL_BEFORE, KILL_AFTER, KILL_HALF };

static char folder[PATH_MAX];
static void (*on_sync)(const char *path);
static int log_fd = -1, action = WATCH, code;
static long seen, chosen;

/* `log` receives a line "number<TAB>call<TAB>path" a call; `at` counts from 1, 0 never comes. */
void fault_arm(const char *below, int log, long at, int what, int error) {
    snprintf(folder, sizeof folder, "%s", below);
    log_fd = log;
    seen = 0;
    chosen = at;
    action = what;
    code = error;
}

void fault_disarm(void) { folder[0] = 0; }

/* `told` is called with the path of every file or folder below the armed folder right after it became durable. */
void fault_on_sync(void (*told)(const char *path)) { on_sync = told; }

static int below(const char *path) {
    size_t length = strlen(folder);
    return length && !strncmp(path, folder, length);
}

static void die(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

/* Note the call; -1 when it must fail with `errno` set, 1 when it must be followed by the end, 2 when done by half. */
static int step(const char *call, const char *path) {
    char line[PATH_MAX + 64];
    if (!below(path)) return 0;
    seen++;
    int length = snprintf(line, sizeof line, "%ld\t%s\t%s\n", seen, call, path + strlen(folder));
    syscall(SYS_write, log_fd, line, length);
    if (action == FAIL_FROM ? seen < chosen || !chosen : seen != chosen) return 0;
    switch (action) {
    case FAIL_ONCE:
    case FAIL_FROM:
        errno = code;
        return -1;
    case KILL_BEFORE:
        die();
        return 0;
    case KILL_AFTER:
        return 1;
    case KILL_HALF:
        return 2;
    }
    return 0;
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = folder[0] ? readlink(link, path, PATH_MAX - 1) : -1;
    if (length >= 0) path[length] = 0;
    return length >= 0;
}

static int step_fd(const char *call, int fd) {
    char path[PATH_MAX];
    return path_of(fd, path) ? step(call, path) : 0;
}

static void tell(int fd) {
    char path[PATH_MAX];
    if (on_sync && path_of(fd, path) && below(path)) on_sync(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define SYNC(name)                                                                                                     \
    int name(int fd) {                                                                                                 \
        int what = step_fd("fsync", fd);                                                                               \
        if (what < 0) return -1;                                                                                       \
        int result = REAL(name)(fd);                                                                                   \
        if (!result) tell(fd);                                                                                         \
        if (what > 0) die();                                                                                           \
        return result;                                                                                                 \
    }
SYNC(fsync)
SYNC(fdatasync)

ssize_t write(int fd, const void *data, size_t size) {
    int what = step_fd("write", fd);
    if (what < 0) return -1;
    ssize_t result = REAL(write)(fd, data, what == 2 ? size / 2 : size);
    if (what > 0) die();
    return result;
}

#define PWRITE(name, offset_type)                                                                                      \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) {                                          \
        int what = step_fd("write", fd);                                                                               \
        if (what < 0) return -1;                                                                                       \
        ssize_t result = REAL(name)(fd, data, what == 2 ? size / 2 : size, offset);                                    \
        if (what > 0) die();                                                                                           \
        return result;                                                                                                 \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset_type)                                                                                    \
    int name(int fd, offset_type size) {                                                                               \
        int what = step_fd("truncate", fd);                                                                            \
        if (what < 0) return -1;                                                                                       \
        int result = REAL(name)(fd, size);                                                                             \
        if (what > 0) die();                                                                                           \
        return result;                                                                                                 \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    int what = step("rename", to);
    if (what < 0) return -1;
    int result = REAL(rename)(from, to);
    if (what > 0) die();
    return result;
}

#define ON_PATH(name, call, parameters, arguments)                                                                     \
    int name parameters {                                                                                              \
        int what = step(call, path);                                                                                   \
        if (what < 0) return -1;                                                                                       \
        int result = REAL(name) arguments;                                                                             \
        if (what > 0) die();                                                                                           \
        return result;                                                                                                 \
    }
ON_PATH(unlink, "unlink", (const char *path), (path))
ON_PATH(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode))

/* Only an open that may create the file is a step. */
#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                                                      \
        va_end(rest);                                                                                                  \
        int creates = flags & O_CREAT && access(path, F_OK);                                                           \
        int what = creates ? step("create", path) : 0;                                                                 \
        if (what < 0) return -1;                                                                                       \
        int result = REAL(name)(path, flags, mode);                                                                    \
        if (what > 0) die();                                                                                           \
        return result;                                                                                                 \
    }
OPEN(open)
OPEN(open64)
