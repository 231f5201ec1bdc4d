/* The client of the fan-out rows: one publisher and many subscribers in one thread, the same for every server.
 *
 *   fanout WIRE SUBSCRIBE PUBLISH SERVER_PID SUBSCRIBERS STALLED RATE WINDOW WARM_MS MEASURE_MS
 *
 * WIRE is unix or web (hopline's client wire over either), redis or nats. SUBSCRIBE and PUBLISH are a socket's path or a
 * port of 127.0.0.1. STALLED further subscribers never read. RATE is messages a second; with 0 as many are published as
 * the slowest reader takes, at most WINDOW ahead of it. Each message has PAYLOAD bytes and begins with the time.
 *
 * A delivery is counted by bytes on redis and nats and by the cursor of each batch on ours, so counting costs the same.
 * One JSON line on fd 1. It ends by itself, or by its alarm.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD 500
#define STAMP "<t="
#define STAMP_BYTES 24
#define CARRY 512
#define READ_BYTES (256 << 10)
#define GROUP 64
#define EVENTS 256

enum { UNIX, WEB, REDIS, NATS } wire;

struct subscriber {
    int fd;
    unsigned long long bytes, cursor, left; /* left: of a WebSocket frame */
    unsigned char carry[CARRY], head[10];
    size_t carried, have;
};

static struct subscriber *all;
static int subscribers, publisher;
static unsigned long long published, message_bytes;
static unsigned *delays;
static size_t delay_count, delay_room;
static int timing;
static char out[GROUP * 1024];
static size_t out_size, out_at;

static void fail(const char *what) {
    fprintf(stderr, "fanout: %s: %s\n", what, strerror(errno));
    exit(3);
}

static long long now_ns(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return moment.tv_sec * 1000000000LL + moment.tv_nsec;
}

static double cpu_seconds(pid_t pid) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) fail("the server's CPU time");
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static long resident_kb(pid_t pid) {
    char path[64], line[256];
    long found = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &found) == 1) break;
    if (file) fclose(file);
    return found;
}

static int dial(const char *where) {
    int fd = socket(*where == '/' ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, result = -1;
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0) fail("socket");
    if (*where == '/') {
        strncpy(path.sun_path, where, sizeof path.sun_path - 1);
        result = connect(fd, (struct sockaddr *)&path, sizeof path);
    } else {
        port.sin_port = htons((unsigned short)atoi(where));
        result = connect(fd, (struct sockaddr *)&port, sizeof port);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    if (result < 0) fail(where);
    return fd;
}

static void say(int fd, const char *text, size_t size) {
    if (send(fd, text, size, MSG_NOSIGNAL) != (ssize_t)size) fail("send");
}

/* Read byte by byte until `end` came, so that nothing after it is taken. */
static void expect(int fd, const char *end) {
    char line[4096];
    for (size_t size = 0; size < sizeof line - 1;) {
        if (recv(fd, line + size, 1, 0) != 1) fail("a server that leaves during the greeting");
        line[++size] = 0;
        if (size >= strlen(end) && memcmp(line + size - strlen(end), end, strlen(end)) == 0) return;
    }
    fail("a greeting");
}

static void subscribe(struct subscriber *one, const char *where) {
    static const char ask[] = "{\"type\":\"subscribe\",\"after_sequence\":0}";
    char text[512];
    one->fd = dial(where);
    if (wire == UNIX) {
        say(one->fd, text, (size_t)snprintf(text, sizeof text, "%s\n", ask));
        expect(one->fd, "\n");
    } else if (wire == WEB) {
        say(one->fd, text, (size_t)snprintf(text, sizeof text,
            "GET /ws?token=t0ken HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nOrigin: http://127.0.0.1:%s\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", where, where));
        expect(one->fd, "\r\n\r\n");
        say(one->fd, text, (size_t)snprintf(text, sizeof text, "\x81%c%c%c%c%c%s", (int)(0x80 | (sizeof ask - 1)), 0, 0, 0, 0, ask));
        expect(one->fd, "}");
    } else if (wire == REDIS) {
        say(one->fd, "SUBSCRIBE s\r\n", 13);
        expect(one->fd, ":1\r\n");
    } else {
        expect(one->fd, "\r\n");
        const char *hello = "CONNECT {\"verbose\":false}\r\nSUB s 1\r\nPING\r\n";
        say(one->fd, hello, strlen(hello));
        expect(one->fd, "PONG\r\n");
    }
}

static void compose(long long moment) {
    static char filling[PAYLOAD + 1];
    if (!*filling) memset(filling, 'x', PAYLOAD);
    char *at = out + out_size;
    if (wire == REDIS) at += sprintf(at, "*3\r\n$7\r\nPUBLISH\r\n$1\r\ns\r\n$%d\r\n", PAYLOAD);
    if (wire == NATS) at += sprintf(at, "PUB s %d\r\n", PAYLOAD);
    at += sprintf(at, STAMP "%020lld>%.*s", moment, PAYLOAD - STAMP_BYTES - (wire <= WEB), filling);
    at += sprintf(at, wire <= WEB ? "\n" : "\r\n");
    out_size = (size_t)(at - out);
    published++;
}

static void flush(void) {
    while (out_at < out_size) {
        ssize_t sent = send(publisher, out + out_at, out_size - out_at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (sent < 0) fail("publish");
        out_at += (size_t)sent;
    }
    out_at = out_size = 0;
}

static void time_stamps(const unsigned char *data, size_t size) {
    long long moment = now_ns();
    const unsigned char *end = data + size, *at = data;
    while ((at = memmem(at, (size_t)(end - at), STAMP, 3)) && end - at >= STAMP_BYTES) {
        if (delay_count == delay_room) delays = realloc(delays, (delay_room = delay_room * 2 + 65536) * sizeof *delays);
        long long late = moment - strtoll((const char *)at + 3, NULL, 10);
        delays[delay_count++] = (unsigned)(late / 1000);
        at += STAMP_BYTES;
    }
}

/* The cursor that the batch ending at `end` carries in its last bytes; `start` is as far as may be looked back. */
static void take_cursor(struct subscriber *one, const unsigned char *start, const unsigned char *end) {
    static const char field[] = "\"through_sequence\":";
    if (end - start > CARRY) start = end - CARRY;
    const unsigned char *found = NULL, *at = start;
    while ((at = memmem(at, (size_t)(end - at), field, sizeof field - 1))) found = at, at += sizeof field - 1;
    if (found) one->cursor = strtoull((const char *)found + sizeof field - 1, NULL, 10);
}

static void take_frames(struct subscriber *one, const unsigned char *start, const unsigned char *at, const unsigned char *end) {
    while (at < end) {
        if (one->left == 0) {
            one->head[one->have++] = *at++;
            size_t code = one->have < 2 ? 0 : one->head[1] & 127, wide = code == 127 ? 8 : code == 126 ? 2 : 0;
            if (one->have < 2 || one->have < 2 + wide) continue;
            one->left = wide ? 0 : code;
            for (size_t byte = 0; byte < wide; byte++) one->left = one->left << 8 | one->head[2 + byte];
            one->have = 0;
            continue;
        }
        unsigned long long part = (unsigned long long)(end - at) < one->left ? (unsigned long long)(end - at) : one->left;
        at += part;
        one->left -= part;
        if (one->left == 0) take_cursor(one, start, at);
    }
}

static void take(struct subscriber *one) {
    static unsigned char buffer[CARRY + READ_BYTES + 1];
    ssize_t size = recv(one->fd, buffer + CARRY, READ_BYTES, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) fail("a server that leaves");
    unsigned char *data = buffer + CARRY, *start = data - one->carried, *end = data + size;
    memcpy(start, one->carry, one->carried);
    *end = 0;
    one->bytes += (unsigned long long)size;
    if (timing) time_stamps(one->carried >= STAMP_BYTES ? data - (STAMP_BYTES - 1) : start, (size_t)(end - (one->carried >= STAMP_BYTES ? data - (STAMP_BYTES - 1) : start)));
    if (wire == WEB) take_frames(one, start, data, end);
    if (wire == UNIX) {
        unsigned char *newline = memrchr(data, '\n', (size_t)size);
        if (newline) take_cursor(one, start, newline);
    }
    if (wire >= REDIS) one->cursor = one->bytes / message_bytes;
    one->carried = end - start > CARRY ? CARRY : (size_t)(end - start);
    memcpy(one->carry, end - one->carried, one->carried);
}

static int by_value(const void *left, const void *right) {
    unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    if (argc != 11) return 2;
    const char *names[] = {"unix", "web", "redis", "nats"};
    for (wire = UNIX; wire < NATS && strcmp(names[wire], argv[1]); wire++) continue;
    pid_t server = atoi(argv[4]);
    subscribers = atoi(argv[5]);
    int stalled = atoi(argv[6]);
    long long rate = atoll(argv[7]), window = atoll(argv[8]), warm = atoll(argv[9]) * 1000000, measure = atoll(argv[10]) * 1000000;
    alarm((unsigned)((warm + measure) / 1000000000 + 60));
    message_bytes = wire == REDIS ? (unsigned long long)snprintf(NULL, 0, "*3\r\n$7\r\nmessage\r\n$1\r\ns\r\n$%d\r\n\r\n", PAYLOAD) + PAYLOAD
                                  : (unsigned long long)snprintf(NULL, 0, "MSG s 1 %d\r\n\r\n", PAYLOAD) + PAYLOAD;
    int poll = epoll_create1(EPOLL_CLOEXEC);
    all = calloc((size_t)(subscribers + stalled), sizeof *all);
    publisher = dial(argv[3]);
    if (wire == NATS) {
        expect(publisher, "\r\n");
        say(publisher, "CONNECT {\"verbose\":false}\r\n", 27);
    }
    long before_kb = resident_kb(server);
    for (int each = 0; each < subscribers + stalled; each++) {
        subscribe(&all[each], argv[2]);
        struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = &all[each]};
        if (each < subscribers && epoll_ctl(poll, EPOLL_CTL_ADD, all[each].fd, &wanted) < 0) fail("epoll");
    }
    struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = NULL}, found[EVENTS];
    if (epoll_ctl(poll, EPOLL_CTL_ADD, publisher, &wanted) < 0) fail("epoll");

    long long started = now_ns(), from = started + warm, until = from + measure, moment = started, due = started;
    unsigned long long base = 0, total = 0, published_base = 0;
    double cpu = 0;
    int measuring = 0;
    for (; moment < until; moment = now_ns()) {
        if (!measuring && moment >= from) {
            measuring = 1, timing = rate > 0, from = moment, base = total, published_base = published, cpu = cpu_seconds(server);
        }
        if (out_size == 0 && rate > 0)
            for (int group = 0; group < GROUP && due <= moment; group++, due += 1000000000 / rate) compose(now_ns());
        if (out_size == 0 && rate == 0) {
            unsigned long long slowest = published;
            for (int each = 0; each < subscribers; each++) slowest = all[each].cursor < slowest ? all[each].cursor : slowest;
            if (published - slowest + GROUP <= (unsigned long long)window)
                for (int group = 0; group < GROUP; group++) compose(moment);
        }
        flush();
        int ready = epoll_wait(poll, found, EVENTS, rate == 0 || due - moment < 1500000 ? 1 : 5);
        for (int each = 0; each < ready; each++) {
            struct subscriber *one = found[each].data.ptr;
            static char replies[65536];
            if (one) {
                total -= one->cursor;
                take(one);
                total += one->cursor;
            } else if (recv(publisher, replies, sizeof replies, MSG_DONTWAIT) == 0) fail("the publisher's connection");
        }
    }
    cpu = cpu_seconds(server) - cpu;
    qsort(delays, delay_count, sizeof *delays, by_value);
    double seconds = (double)(moment - from) / 1e9;
    printf("{\"deliveries\":%llu,\"published\":%llu,\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"kb_before\":%ld,\"kb_after\":%ld,", total - base,
           published - published_base, seconds, cpu, before_kb, resident_kb(server));
    printf("\"timed\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"client_cpu_seconds\":%.3f}\n", delay_count, delay_count ? delays[delay_count / 2] / 1e3 : 0.0,
           delay_count ? delays[delay_count * 99 / 100] / 1e3 : 0.0, cpu_seconds(getpid()));
    return 0;
}
