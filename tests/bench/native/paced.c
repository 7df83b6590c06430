/* An open-loop load generator for HTTP/1.1 over kept connections: so many requests a second, whatever the answers do.
 * A request's latency counts from the moment it was due, not from when a connection was free to send it, so that a
 * proxy that stalls cannot hide behind requests that were never sent (coordinated omission). One thread, epoll.
 *
 * paced PORT PATH RATE CONNECTIONS SECONDS [FIELD ...]   on 127.0.0.1; prints one line of JSON, latencies in ms
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define HEAD_BYTES 16384 /* of an answer's head: more than any target here sends */
#define TIMER UINT32_MAX
#define GRACE 5.0 /* seconds for the last answers to come */

struct connection {
    int fd, busy, in_body, chunked, head_length;
    double due;
    long long left;           /* bytes of a body with a length */
    char head[HEAD_BYTES];
    char tail[5];             /* the last bytes of a chunked body */
    int tail_length;
};

static int poller;
static struct sockaddr_in target;
static long done, failed, by_hundred[6];
static float *latencies;

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b) {
    float one = *(const float *)a, other = *(const float *)b;
    return (one > other) - (one < other);
}

static double quantile(double q) { return done ? latencies[(long)((done - 1) * q)] : 0; }

static void open_connection(struct connection *c, uint32_t index) {
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&target, sizeof target) < 0) {
        perror("connect");
        exit(2);
    }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
    epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event);
    c->busy = 0;
}

/* Reads the head's end, status and framing out of what came; gives the bytes used, 0 while the head is not whole. */
static long take_head(struct connection *c, const char *bytes, long length) {
    long room = HEAD_BYTES - 1 - c->head_length, before = c->head_length;
    long copied = length < room ? length : room;
    memcpy(c->head + before, bytes, copied);
    c->head_length += copied;
    c->head[c->head_length] = 0;
    char *end = strstr(c->head, "\r\n\r\n");
    if (!end) return 0;
    char *sized = strcasestr(c->head, "\r\ncontent-length:");
    char *chunked = strcasestr(c->head, "\r\ntransfer-encoding: chunked");
    int hundred = atoi(c->head + 9) / 100;
    by_hundred[hundred >= 1 && hundred <= 5 ? hundred : 0]++;
    c->in_body = 1;
    c->tail_length = 0;
    c->left = sized && sized < end ? atoll(sized + 17) : 0;
    c->chunked = chunked && chunked < end;
    return end + 4 - c->head - before;
}

/* Whether the body is whole with these bytes. */
static int take_body(struct connection *c, const char *bytes, long length) {
    if (!c->chunked) {
        c->left -= length;
        return c->left <= 0;
    }
    for (long i = length > 5 ? length - 5 : 0; i < length; i++) {
        if (c->tail_length == 5) memmove(c->tail, c->tail + 1, --c->tail_length);
        c->tail[c->tail_length++] = bytes[i];
    }
    return c->tail_length == 5 && !memcmp(c->tail, "0\r\n\r\n", 5);
}

int main(int argc, char **argv) {
    if (argc < 6) {
        fprintf(stderr, "usage: paced PORT PATH RATE CONNECTIONS SECONDS [FIELD ...]\n");
        return 1;
    }
    double rate = atof(argv[3]), seconds = atof(argv[5]);
    int count = atoi(argv[4]), idle_count = 0, port = atoi(argv[1]);
    long total = (long)(rate * seconds), issued = 0;

    static char request[8192], bytes[262144];
    int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", argv[2], port);
    for (int i = 6; i < argc; i++) size += snprintf(request + size, sizeof request - size, "%s\r\n", argv[i]);
    size += snprintf(request + size, sizeof request - size, "\r\n");
    if (size >= (int)sizeof request) return 1;

    target.sin_family = AF_INET;
    target.sin_port = htons(port);
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct connection *all = calloc(count, sizeof *all);
    int *idle = calloc(count, sizeof *idle);
    latencies = calloc(total + 1, sizeof *latencies);
    for (int i = 0; i < count; i++) {
        open_connection(&all[i], i);
        idle[idle_count++] = i;
    }
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); /* epoll_wait alone counts whole ms */
    struct epoll_event ticking = {.events = EPOLLIN, .data.u32 = TIMER}, events[256];
    epoll_ctl(poller, EPOLL_CTL_ADD, timer, &ticking);

    double start = now() + 0.01, last = start + seconds + GRACE;
    while (now() < last && (issued < total || done + failed < issued)) {
        while (issued < total && idle_count && start + issued / rate <= now()) {
            struct connection *c = &all[idle[--idle_count]];
            c->due = start + issued++ / rate;
            c->busy = 1;
            c->in_body = c->head_length = 0;
            if (send(c->fd, request, size, MSG_NOSIGNAL) != size) shutdown(c->fd, SHUT_RDWR); /* read as an end below */
        }
        double pause = issued < total && idle_count ? start + issued / rate - now() : 0.05;
        if (pause < 1e-6) pause = 1e-6;
        struct itimerspec until = {.it_value = {(time_t)pause, (long)((pause - (time_t)pause) * 1e9) + 1}};
        timerfd_settime(timer, 0, &until, NULL);
        int ready = epoll_wait(poller, events, 256, 100);
        for (int i = 0; i < ready; i++) {
            uint32_t index = events[i].data.u32;
            if (index == TIMER) {
                uint64_t ticks;
                ssize_t unused = read(timer, &ticks, sizeof ticks); /* only so that it is armed no longer */
                (void)unused;
                continue;
            }
            struct connection *c = &all[index];
            long length = recv(c->fd, bytes, sizeof bytes, 0), used = 0;
            if (length < 0 && errno == EAGAIN) continue;
            if (length <= 0) { /* ended: a failure where an answer was due, else only a connection to open anew */
                int was_busy = c->busy;
                close(c->fd);
                open_connection(c, index);
                if (was_busy) {
                    failed++;
                    idle[idle_count++] = index;
                }
                continue;
            }
            if (!c->in_body && !(used = take_head(c, bytes, length))) continue;
            if (!take_body(c, bytes + used, length - used)) continue;
            latencies[done++] = (float)((now() - c->due) * 1e3);
            c->busy = 0;
            idle[idle_count++] = index;
        }
    }
    double took = now() - start;
    failed += issued - done - failed; /* answers that never came */
    qsort(latencies, done, sizeof *latencies, by_size);
    printf("{\"rate\":%.1f,\"rps\":%.1f,\"requests\":%ld,\"errors\":%ld,\"good\":%ld,\"p50\":%.4f,\"p90\":%.4f,\"p99\":%.4f,"
           "\"p999\":%.4f,\"max\":%.4f}\n",
           rate, done / took, done, failed + total - issued, by_hundred[2], quantile(.5), quantile(.9), quantile(.99),
           quantile(.999), quantile(1));
    return 0;
}
