/* The loads: programs that a measured worker runs. loads.py does the same where there is no compiler.
 *
 *   loads flood BLOCK TOTAL WRITE     write TOTAL bytes, the file BLOCK over and over, WRITE bytes a write()
 *   loads ticks COUNT MICROSECONDS    one line a tick: t=<CLOCK_MONOTONIC ns, 20 digits>; and filling, 80 bytes
 *   loads patient SECONDS             sleep, whatever signals come
 *
 * Every load ends by itself: by its size, or killed by its own alarm after LOAD_SECONDS (default 120).
 * With LOAD_INTERRUPTS naming a FIFO, each SIGINT writes its CLOCK_MONOTONIC ns there (8 bytes) and changes nothing else.
 * With LOAD_GATE naming a FIFO, the load starts when a byte can be read from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int interrupts = -1;

static long long now_ns(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return moment.tv_sec * 1000000000LL + moment.tv_nsec;
}

static void on_interrupt(int signal) {
    (void)signal;
    int kept = errno;
    long long moment = now_ns();
    if (interrupts >= 0 && write(interrupts, &moment, sizeof moment) < 0) errno = kept;
    errno = kept;
}

static void fail(const char *what) {
    perror(what);
    exit(3);
}

static void write_all(const char *data, size_t size) {
    while (size > 0) {
        ssize_t written = write(1, data, size);
        if (written < 0) {
            if (errno == EINTR) continue;
            exit(4);
        }
        data += written;
        size -= (size_t)written;
    }
}

static char *load_file(const char *path, size_t *size) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) < 0 || status.st_size == 0) fail(path);
    *size = (size_t)status.st_size;
    char *data = malloc(*size);
    for (size_t have = 0; have < *size;) {
        ssize_t got = read(file, data + have, *size - have);
        if (got <= 0) fail(path);
        have += (size_t)got;
    }
    close(file);
    return data;
}

static void flood(const char *path, long long total, size_t each) {
    size_t size, at = 0;
    char *block = load_file(path, &size);
    while (total > 0) {
        size_t next = each;
        if (next > size - at) next = size - at;
        if ((long long)next > total) next = (size_t)total;
        write_all(block + at, next);
        total -= (long long)next;
        at += next;
        if (at == size) at = 0;
    }
}

static void ticks(long count, long microseconds) {
    long long due = now_ns();
    char line[96];
    for (long tick = 0; tick < count; tick++) {
        due += microseconds * 1000LL;
        struct timespec moment = {due / 1000000000LL, due % 1000000000LL};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR) continue;
        int size = snprintf(line, sizeof line, "t=%020lld;%056ld\n", now_ns(), tick);
        write_all(line, (size_t)size);
    }
}

static void patient(long seconds) {
    long long end = now_ns() + seconds * 1000000000LL;
    struct timespec moment = {end / 1000000000LL, end % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR) continue;
}

int main(int count, char **word) {
    const char *seconds = getenv("LOAD_SECONDS"), *fifo = getenv("LOAD_INTERRUPTS"), *gate = getenv("LOAD_GATE");
    alarm(seconds ? (unsigned)atoi(seconds) : 120);
    if (fifo) {
        interrupts = open(fifo, O_RDWR | O_CLOEXEC);
        if (interrupts < 0) fail(fifo);
        struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
        sigaction(SIGINT, &action, NULL);
        long long zero = 0;
        if (write(interrupts, &zero, sizeof zero) < 0) fail(fifo);
    }
    if (gate) {
        char byte;
        int file = open(gate, O_RDONLY | O_CLOEXEC);
        if (file < 0 || read(file, &byte, 1) < 0) fail(gate);
        close(file);
    }
    if (count == 5 && !strcmp(word[1], "flood")) flood(word[2], atoll(word[3]), (size_t)atoll(word[4]));
    else if (count == 4 && !strcmp(word[1], "ticks")) ticks(atol(word[2]), atol(word[3]));
    else if (count == 3 && !strcmp(word[1], "patient")) patient(atol(word[2]));
    else return 2;
    return 0;
}
