/* One job whose scaling over threads stops by one mechanism: planted MODE THREADS WORK. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static const char *mode;
static int threads;
static long share;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int spin;
static void burn(long n) { for (volatile long i = 0; i < n; i++); }
static void *work(void *unused) {
    long piece = share / 200;
    for (int i = 0; i < 200; i++) {
        if (!strcmp(mode, "mutex")) { pthread_mutex_lock(&lock); burn(piece); usleep(2000); pthread_mutex_unlock(&lock); }
        else if (!strcmp(mode, "spin")) { while (__sync_lock_test_and_set(&spin, 1)); burn(piece); __sync_lock_release(&spin); }
        else burn(piece);
    }
    return 0;
}
int main(int n, char **a) {
    pthread_t made[64];
    mode = a[1]; threads = atoi(a[2]); long all = atol(a[3]);
    if (!strcmp(mode, "skip")) all /= 3;
    if (!strcmp(mode, "serial")) { burn(all / 2); all /= 2; }
    share = all / threads;
    for (int i = 0; i < threads; i++) pthread_create(made + i, 0, work, 0);
    for (int i = 0; i < threads; i++) pthread_join(made[i], 0);
    return 0;
}
