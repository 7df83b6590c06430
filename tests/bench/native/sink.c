/* The end of uploads: reads a request's body, by its length or by chunks, and answers 200 with the number of bytes.
 * A thread a connection; HTTP/1.1 as the site before it sends it.
 *
 * sink PORT   on 127.0.0.1
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER 262144

/* Reads on until the body is whole; `have` bytes of it are in `bytes`. Gives its size on the wire, -1 at an early end. */
static long long read_body(int fd, char *bytes, char *body, long have, long long length, int chunked) {
    long long got = have;
    char tail[5];
    int kept = 0;
    for (;;) {
        if (chunked) {
            for (long i = have > 5 ? have - 5 : 0; i < have; i++) {
                if (kept == 5) memmove(tail, tail + 1, --kept);
                tail[kept++] = body[i];
            }
            if (kept == 5 && !memcmp(tail, "0\r\n\r\n", 5)) return got;
        } else if (got >= length) {
            return got;
        }
        have = recv(fd, bytes, BUFFER, 0);
        if (have <= 0) return -1;
        body = bytes;
        got += have;
    }
}

static void *serve(void *given) {
    int fd = (int)(intptr_t)given, on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char *bytes = malloc(BUFFER + 1);
    for (;;) {
        long have = 0, read;
        char *end = NULL;
        while (!end) {
            read = have < BUFFER ? recv(fd, bytes + have, BUFFER - have, 0) : 0;
            if (read <= 0) goto gone;
            have += read;
            bytes[have] = 0;
            end = strstr(bytes, "\r\n\r\n");
        }
        char *sized = strcasestr(bytes, "\r\ncontent-length:"), *chunked = strcasestr(bytes, "\r\ntransfer-encoding: chunked");
        long long length = sized && sized < end ? atoll(sized + 17) : 0;
        char *body = end + 4;
        long long got = read_body(fd, bytes, body, have - (body - bytes), length, chunked && chunked < end);
        if (got < 0) goto gone;
        char told[32], answer[160];
        int told_length = snprintf(told, sizeof told, "%lld\n", got);
        int size = snprintf(answer, sizeof answer,
                            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", told_length, told);
        if (send(fd, answer, size, MSG_NOSIGNAL) < 0) goto gone;
    }
gone:
    close(fd);
    free(bytes);
    return NULL;
}

int main(int argc, char **argv) {
    int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 0)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (argc != 2 || bind(listening, (struct sockaddr *)&here, sizeof here) || listen(listening, 128)) {
        perror("sink PORT");
        return 1;
    }
    for (;;) {
        pthread_t thread;
        int fd = accept(listening, NULL, NULL);
        if (fd >= 0 && !pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd)) pthread_detach(thread);
    }
}
