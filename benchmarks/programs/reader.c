/* The readers: what stands at the end of a measured pipe. reader.py does the same where there is no compiler.
 *
 *   reader frames BLOCK    strictly decode worker-wire events on fd 0 and compare raw output with BLOCK, repeated
 *   reader raw BLOCK       no decoding: compare the bytes themselves
 *   reader discard         no decoding, no comparing
 *
 * At EOF one JSON line on fd 1: payload and wire bytes, frames, and seconds from the first byte read to EOF.
 * Anything wrong is one sentence on fd 2 and status 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (1 << 20)

static unsigned char *block, *text, *unbased;
static size_t block_size, text_room;
static unsigned long long payload, wire, frames, lifecycle;
static char outcome[32];

static void fail(const char *why) {
    fprintf(stderr, "frame %llu: %s\n", frames, why);
    exit(1);
}

static double now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + (double)moment.tv_nsec / 1e9;
}

static void compare(const unsigned char *data, size_t size) {
    while (size > 0) {
        size_t at = payload % block_size, next = block_size - at;
        if (next > size) next = size;
        if (memcmp(block + at, data, next)) fail("the bytes differ from what was written");
        payload += next;
        data += next;
        size -= next;
    }
}

static unsigned hex4(const unsigned char *at) {
    unsigned value = 0;
    for (int digit = 0; digit < 4; digit++) {
        unsigned char c = at[digit];
        value <<= 4;
        if (c >= '0' && c <= '9') value |= c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f') value |= (c | 32) - 'a' + 10;
        else fail("bad \\u escape");
    }
    return value;
}

static unsigned char *put_scalar(unsigned char *out, unsigned scalar) {
    if (scalar < 0x80) *out++ = (unsigned char)scalar;
    else if (scalar < 0x800) *out++ = 0xC0 | scalar >> 6, *out++ = 0x80 | (scalar & 63);
    else if (scalar < 0x10000) *out++ = 0xE0 | scalar >> 12, *out++ = 0x80 | (scalar >> 6 & 63), *out++ = 0x80 | (scalar & 63);
    else *out++ = 0xF0 | scalar >> 18, *out++ = 0x80 | (scalar >> 12 & 63), *out++ = 0x80 | (scalar >> 6 & 63), *out++ = 0x80 | (scalar & 63);
    return out;
}

static size_t utf8_size(const unsigned char *at) {
    unsigned char a = at[0], b = at[1];
    if (a >= 0xC2 && a <= 0xDF) return (b & 0xC0) == 0x80 ? 2 : 0;
    if (a >= 0xE0 && a <= 0xEF)
        return (b & 0xC0) == 0x80 && (at[2] & 0xC0) == 0x80 && !(a == 0xE0 && b < 0xA0) && !(a == 0xED && b > 0x9F) ? 3 : 0;
    if (a >= 0xF0 && a <= 0xF4)
        return (b & 0xC0) == 0x80 && (at[2] & 0xC0) == 0x80 && (at[3] & 0xC0) == 0x80 && !(a == 0xF0 && b < 0x90) && !(a == 0xF4 && b > 0x8F) ? 4 : 0;
    return 0;
}

/* Decode the JSON string whose opening quote was passed; the line ends in '\n', which no string may hold. */
static const unsigned char *string(const unsigned char *at, unsigned char *out, size_t *size) {
    const uint64_t ones = 0x0101010101010101ULL, highs = 0x8080808080808080ULL;
    unsigned char *start = out;
    for (;;) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
        if (!(((quote - ones) & ~quote) & highs) && !(((slash - ones) & ~slash) & highs) && !(word & highs) && !((word - ones * 0x20) & highs)) {
            memcpy(out, at, 8);
            at += 8, out += 8;
            continue;
        }
        unsigned char c = *at;
        if (c == '"') break;
        if (c < 0x20) fail("control byte inside a string");
        if (c == '\\') {
            static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
            c = at[1];
            const char *found = c ? strchr(from, c) : NULL;
            if (found) *out++ = (unsigned char)to[found - from], at += 2;
            else if (c == 'u') {
                unsigned scalar = hex4(at + 2);
                at += 6;
                if (scalar >= 0xDC00 && scalar < 0xE000) fail("lone surrogate");
                if (scalar >= 0xD800 && scalar < 0xDC00) {
                    unsigned low = at[0] == '\\' && at[1] == 'u' ? hex4(at + 2) : 0;
                    if (low < 0xDC00 || low > 0xDFFF) fail("lone surrogate");
                    scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00);
                    at += 6;
                }
                out = put_scalar(out, scalar);
            } else fail("bad escape");
        } else if (c < 0x80) *out++ = c, at++;
        else {
            size_t bytes = utf8_size(at);
            if (!bytes) fail("not UTF-8");
            memcpy(out, at, bytes);
            out += bytes, at += bytes;
        }
    }
    *size = (size_t)(out - start);
    return at + 1;
}

/* Twelve bits for each two letters, by their bytes as they lie in memory; 0xFFFF for what is not base64. */
static size_t base64(const unsigned char *in, size_t size, unsigned char *out) {
    static const unsigned char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static uint16_t value[65536], pair;
    if (!pair++) {
        memset(value, 0xFF, sizeof value);
        for (unsigned both = 0; both < 4096; both++) {
            unsigned char two[2] = {letters[both >> 6], letters[both & 63]};
            memcpy(&pair, two, 2);
            value[pair] = (uint16_t)both;
        }
    }
    if (size % 4) fail("base64 without its padding");
    if (!size) return 0;
    unsigned char *start = out, last[4];
    int padding = in[size - 1] == '=' ? 1 + (in[size - 2] == '=') : 0;
    memcpy(last, in + size - 4, 4);
    memset(last + 4 - padding, 'A', (size_t)padding);
    for (size_t at = 0; at < size; at += 4) {
        const unsigned char *four = at + 4 == size ? last : in + at;
        uint16_t high, low;
        memcpy(&high, four, 2);
        memcpy(&low, four + 2, 2);
        high = value[high], low = value[low];
        if ((high | low) & 0xF000) fail("not base64");
        *out++ = (unsigned char)(high >> 4);
        *out++ = (unsigned char)(high << 4 | low >> 8);
        *out++ = (unsigned char)low;
    }
    return (size_t)(out - start) - (size_t)padding;
}

static const unsigned char *blank(const unsigned char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r') at++;
    return at;
}

/* One line, its newline at `end`. Fields: kind, data, and one integer of any name. */
static void frame(const unsigned char *at, const unsigned char *end) {
    unsigned char name[64], kind[64];
    size_t name_size, kind_size = 0, data_size = 0;
    int has_data = 0, has_number = 0;
    if (outcome[0]) fail("a frame after the outcome");
    at = blank(at);
    if (*at++ != '{') fail("not an object");
    for (;;) {
        at = blank(at);
        if (*at++ != '"' || !memchr(at, '"', 32)) fail("no field name");
        at = blank(string(at, name, &name_size));
        if (*at++ != ':') fail("no colon");
        at = blank(at);
        name[name_size] = 0;
        if (!strcmp((char *)name, "kind") && !kind_size && *at == '"' && memchr(at + 1, '"', 32)) at = string(at + 1, kind, &kind_size);
        else if (*at == '"' && !has_data++) at = string(at + 1, text, &data_size);
        else if (*at >= '0' && *at <= '9' && !has_number++) while (*at >= '0' && *at <= '9') at++;
        else fail("a field too many, or of a wrong type");
        at = blank(at);
        if (*at == ',') { at++; continue; }
        if (*at++ != '}') fail("no end of object");
        break;
    }
    if (blank(at) != end) fail("trailing bytes");
    kind[kind_size] = 0;
    if (!strcmp((char *)kind, "fatal")) fail("the relay says fatal");
    if (!strcmp((char *)kind, "worker_exited") || !strcmp((char *)kind, "worker_signaled")) strcpy(outcome, (char *)kind);
    int raw = !strcmp((char *)kind, "stdout") || !strcmp((char *)kind, "stderr"), bytes = !strcmp((char *)kind, "stdout_bytes") || !strcmp((char *)kind, "stderr_bytes");
    if ((raw || bytes) != has_data) fail("output without data, or data without output");
    if (raw) compare(text, data_size);
    else if (bytes) compare(unbased, base64(text, data_size, unbased));
    else lifecycle++;
    frames++;
}

int main(int count, char **word) {
    int decode = count == 3 && !strcmp(word[1], "frames"), plain = count == 3 && !strcmp(word[1], "raw");
    if (!decode && !plain && !(count == 2 && !strcmp(word[1], "discard"))) return 2;
    if (decode || plain) {
        FILE *file = fopen(word[2], "rb");
        if (!file) fail(word[2]);
        block = malloc(1 << 24);
        block_size = fread(block, 1, 1 << 24, file);
        fclose(file);
    }
    size_t room = 4 * CHUNK, have = 0, scanned = 0;
    unsigned char *buffer = malloc(room + 64);
    double started = 0;
    for (;;) {
        if (room - have < CHUNK) buffer = realloc(buffer, (room *= 2) + 64);
        ssize_t got = read(0, buffer + have, CHUNK);
        if (got < 0) fail("cannot read");
        if (got == 0) break;
        if (!started) started = now();
        wire += (unsigned long long)got;
        have += (size_t)got;
        if (!decode) {
            if (plain) compare(buffer, have);
            have = 0;
            continue;
        }
        if (text_room < room) {
            text = realloc(text, (text_room = room) + 64);
            unbased = realloc(unbased, room + 64);
        }
        unsigned char *line = buffer, *end;
        while ((end = memchr(buffer + scanned, '\n', have - scanned))) {
            frame(line, end);
            line = end + 1;
            scanned = (size_t)(line - buffer);
        }
        have -= (size_t)(line - buffer);
        memmove(buffer, line, have);
        scanned = have;
    }
    double seconds = started ? now() - started : 0;
    if (decode && (have || !outcome[0])) fail("the stream ended without an outcome");
    printf("{\"payload\":%llu,\"wire\":%llu,\"frames\":%llu,\"lifecycle\":%llu,\"outcome\":\"%s\",\"seconds\":%.6f}\n", payload, wire, frames, lifecycle, outcome, seconds);
    return 0;
}
