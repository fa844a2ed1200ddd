/* One job whose scaling stops by one mechanism: planted MODE THREADS WORK [EXTRA]. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#define PIECES 200
#define BLOCK 4096
static const char *mode, *extra;
static int threads;
static long piece, pieces = PIECES, next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile int spin;
static long counters[64 * 32] __attribute__((aligned(128)));
static volatile long *table;
static long entries, blocks;
static int file;
static int is(const char *name) { return !strcmp(mode, name); }
static void burn(long n) { for (volatile long i = 0; i < n; i++); }
static void count(long *own, long n) { for (long i = 0; i < n; i++) __atomic_fetch_add(own, 1, __ATOMIC_SEQ_CST); }
static unsigned long drawn(unsigned long *state) { return *state = *state * 6364136223846793005UL + 1442695040888963407UL; }
static void scatter(unsigned long *state, long n) { /* every access depends on the one before, so none is made ahead */
    for (long i = 0; i < n; i++) *state ^= table[(drawn(state) >> 33) % entries];
}
static void stream(long from, long n) { /* a turn is a line of the cache; pieces follow each other, and no cache holds all */
    for (long i = 0; i < n; i++) table[(from + i) * 8 % entries]++;
}
static void call_disk(void *page, unsigned long *state) {
    if (pread(file, page, BLOCK, (drawn(state) >> 33) % blocks * BLOCK) != BLOCK) exit(1);
}
static int connected(void) {
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(atoi(extra)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int to = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(to, (struct sockaddr *)&peer, sizeof peer)) exit(1);
    return to;
}
static void ask(int to) {
    char byte = 0;
    if (write(to, &byte, 1) != 1 || read(to, &byte, 1) != 1) exit(1);
}
static void *work(void *argument) { /* whoever is free takes the next piece, so all end together */
    long number = (long)argument, i;
    unsigned long state = number + 1;
    void *page = aligned_alloc(BLOCK, BLOCK);
    int to = is("peer") ? connected() : -1;
    if (is("pool")) { /* all are there, and wait for the part of the first one, which main is */
        if (number == 0) burn(piece * pieces);
        pthread_barrier_wait(&barrier);
    }
    while ((i = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST)) < pieces) {
        if (is("mutex")) { pthread_mutex_lock(&lock); burn(piece); usleep(2000); pthread_mutex_unlock(&lock); }
        else if (is("spin")) { while (__sync_lock_test_and_set(&spin, 1)) while (spin); burn(piece); __sync_lock_release(&spin); }
        else if (is("line")) count(counters + number, piece);
        else if (is("apart")) count(counters + 32 * number, piece);
        else if (is("table")) scatter(&state, piece);
        else if (is("stream")) stream(i * piece, piece);
        else if (is("file")) call_disk(page, &state);
        else if (is("peer")) ask(to);
        else burn(piece);
    }
    free(page);
    if (to >= 0) close(to);
    return 0;
}
static void open_memory(long bytes) {
    entries = bytes / sizeof *table;
    table = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) exit(1);
}
static void open_file(int flags) {
    struct stat about;
    if ((file = open(extra, O_RDONLY | flags)) < 0 || fstat(file, &about)) exit(1);
    blocks = about.st_size / BLOCK;
}
static void read_mapped(long n) { /* pages of a file, beyond those that memory holds, are read from the disk again */
    open_file(0);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); /* so that they are this group's to pay for */
    volatile char *pages = mmap(0, blocks * BLOCK, PROT_READ, MAP_SHARED, file, 0);
    unsigned long state = 1;
    for (long i = 0; i < blocks; i++) (void)pages[i * BLOCK];
    madvise((void *)pages, blocks * BLOCK, MADV_RANDOM);
    for (long i = 0; i < n; i++) { (void)pages[(drawn(&state) >> 33) % blocks * BLOCK]; burn(20000); }
}
int main(int n, char **a) {
    pthread_t made[64];
    mode = a[1]; threads = atoi(a[2]); extra = n > 4 ? a[4] : "";
    long all = atol(a[3]);
    if (is("mapped")) { read_mapped(all); return 0; }
    if (is("table")) open_memory(atol(extra) * 1024);
    if (is("stream")) open_memory(64 << 20);
    if (is("file")) open_file(O_DIRECT);
    if (is("skip")) all /= 3;
    if (is("serial")) { burn(all / 2); all /= 2; }
    if (is("pool")) { all /= 2; pthread_barrier_init(&barrier, 0, threads); }
    if (is("file") || is("peer")) pieces = all;
    piece = all / pieces;
    int takes_part = is("pool");
    for (long i = takes_part; i < threads; i++) pthread_create(made + i, 0, work, (void *)i);
    if (takes_part) work(0);
    for (int i = takes_part; i < threads; i++) pthread_join(made[i], 0);
    return 0;
}
