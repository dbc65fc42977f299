/* The time of day of one process, set to another by a file: what it holds, in seconds, is added. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*next)(clockid_t, struct timespec *);
    if (next == NULL) {
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    int result = next(clock, time);
    const char *path = getenv("OZ0_TEST_CLOCK");
    if (result == 0 && clock == CLOCK_REALTIME && path != NULL) {
        FILE *file = fopen(path, "r");
        long offset = 0;
        if (file != NULL) {
            if (fscanf(file, "%ld", &offset) == 1) {
                time->tv_sec += offset;
            }
            fclose(file);
        }
    }
    return result;
}
