/* What the programs of all libraries share: the phases and what each cost, the options, the report.

   A program is told all of the options below as NAME=NUMBER or NAME=TEXT, but for `data` and hints
   as hint.NAME=VALUE, and each rank writes rank-R.json into the folder `report`. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "plan.h"

#define COUNTS 6
#define PHASES 8
#define WRONG_JOB 64 /* the exit status for a job that has not the ranks that were asked for */

typedef struct {
    const char *name;
    double wall, user, sys;
    long long counts[COUNTS];
} phase;

static int phases;
static int asked, reads, collective, individual, serial, read_only, times, deflate, shuffle;
static const char *file, *report, *job, *data; /* job: the plan; data: values instead of made ones */
static phase done[PHASES];
static void *memory[DATASETS];
static MPI_Info hints = MPI_INFO_NULL;
static void (*requests)(long long *);

static void count(long long *counts)
{
    memset(counts, 0, COUNTS * sizeof *counts);
    if (requests)
        requests(counts);
}

static void fail(const char *what, const char *why)
{
    long long counts[COUNTS];
    count(counts);
    if (!counts[5])
        sleep(1); /* so that the rank speaks first whose own request failed */
    char path[4096];
    snprintf(path, sizeof path, "%s/failed-%d", report, rank);
    FILE *to = fopen(path, "w");
    if (to) {
        fprintf(to, "hyperslab: rank %d: %s: %s\n", rank, what,
                counts[5] ? strerror((int)counts[5]) : why);
        fclose(to);
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void measure(phase *p, double sign)
{
    struct rusage used;
    long long counts[COUNTS];
    count(counts);
    getrusage(RUSAGE_SELF, &used);
    p->user += sign * ((double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec);
    p->sys += sign * ((double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec);
    for (int i = 0; i < COUNTS; i++)
        p->counts[i] += (long long)sign * counts[i];
    p->wall += sign * MPI_Wtime();
}

/* A phase begins and ends together on all ranks; pieces of the same name add up. */
static phase *begin(const char *name)
{
    int i = 0;
    while (i < phases && strcmp(done[i].name, name))
        i++;
    if (i == phases)
        done[phases++].name = name;
    MPI_Barrier(MPI_COMM_WORLD);
    measure(&done[i], -1);
    return &done[i];
}

static void end(phase *p)
{
    MPI_Barrier(MPI_COMM_WORLD);
    measure(p, 1);
}

static void *allocate(const dataset *d, size_t size)
{
    void *made = calloc(1, size + 1);
    if (!made)
        fail(d->name, "out of memory");
    return made;
}

/* Give the part of this rank as a simulation has it: inside of guard cells, which packing removes.
   Filling it is not timed. */
static void *pack(int k)
{
    const dataset *d = &plan[k];
    size_t n = cells(d), one = width(d);
    char *packed = allocate(d, n * one);
    fill(data, k, packed);
    if (!d->guard)
        return packed;
    size_t g = (size_t)d->guard, z = (size_t)d->count[1], y = (size_t)d->count[2],
           x = (size_t)d->count[3], row = x * one;
    size_t plane = (y + 2 * g) * (x + 2 * g) * one, block = (z + 2 * g) * plane;
    char *padded = allocate(d, (size_t)d->count[0] * block);
    for (int filling = 1; filling >= 0; filling--) {
        phase *p = filling ? NULL : begin("pack");
        char *line = packed;
        for (size_t b = 0; b < (size_t)d->count[0]; b++)
            for (size_t k3 = 0; k3 < z; k3++)
                for (size_t k2 = 0; k2 < y; k2++, line += row) {
                    char *inside = padded + b * block + (k3 + g) * plane
                        + ((k2 + g) * (x + 2 * g) + g) * one;
                    memcpy(filling ? inside : line, filling ? line : inside, row);
                }
        if (filling)
            memset(packed, 0, n * one);
        else
            end(p);
    }
    free(padded);
    return packed;
}

/* Allocate what is read into, or fill what is written: all before the clock starts. */
static void ready(void)
{
    for (int k = 0; k < datasets; k++)
        memory[k] = reads ? allocate(&plan[k], cells(&plan[k]) * width(&plan[k])) : pack(k);
}

static void verify(void)
{
    for (int k = 0; k < datasets; k++) {
        size_t n = cells(&plan[k]) * width(&plan[k]);
        if (reads) {
            void *truth = allocate(&plan[k], n);
            fill(data, k, truth);
            if (memcmp(truth, memory[k], n))
                fail(plan[k].name, "what was read differs from what was written");
            free(truth);
        }
        free(memory[k]);
    }
}

static void option(char *word)
{
    static const struct { const char *name; int *number; } numbers[] = {
        {"ranks", &asked}, {"datasets", &datasets}, {"reads", &reads}, {"collective", &collective},
        {"individual", &individual}, {"serial", &serial}, {"read_only", &read_only},
        {"times", &times}, {"deflate", &deflate}, {"shuffle", &shuffle},
    };
    static const struct { const char *name, **text; } texts[] = {
        {"file", &file}, {"report", &report}, {"plan", &job}, {"data", &data},
    };
    char *is = strchr(word, '=');
    *is++ = 0;
    if (!strncmp(word, "hint.", 5))
        MPI_Info_set(hints, word + 5, is);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(word, numbers[i].name))
            *numbers[i].number = atoi(is);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(word, texts[i].name))
            *texts[i].text = is;
}

static void start(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *(void **)&requests = dlsym(RTLD_DEFAULT, "hyperslab_requests");
    MPI_Info_create(&hints);
    for (int i = 1; i < argc; i++)
        option(argv[i]);
    if (asked != ranks) {
        fprintf(stderr, "hyperslab: a job of %d where ranks=%d were asked for\n", ranks, asked);
        fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, WRONG_JOB);
        exit(WRONG_JOB);
    }
    read_plan(job);
}

static int finish(const char *library)
{
    char path[4096], mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int size;
    MPI_Get_library_version(mpi, &size);
    mpi[strcspn(mpi, ",\n")] = 0;
    for (char *c = mpi; *c; c++)
        if (*c == '\t' || *c == '"' || *c == '\\')
            *c = ' ';
    snprintf(path, sizeof path, "%s/rank-%d.json", report, rank);
    FILE *to = fopen(path, "w");
    if (!to)
        fail("the report", strerror(errno));
    fprintf(to, "{\"rank\": %d, \"ranks\": %d, \"library\": \"%s\", \"mpi\": \"%s\", "
                "\"counted\": %s, \"phases\": [",
            rank, ranks, library, mpi, requests ? "true" : "false");
    for (int i = 0; i < phases; i++) {
        phase *p = &done[i];
        fprintf(to, "%s{\"phase\": \"%s\", \"wall_s\": %.9f, \"user_s\": %.6f, \"sys_s\": %.6f, "
                    "\"counts\": [%lld, %lld, %lld, %lld]}",
                i ? ", " : "", p->name, p->wall, p->user, p->sys, p->counts[0], p->counts[1],
                p->counts[2], p->counts[3]);
    }
    fprintf(to, "]}\n");
    if (fclose(to))
        fail("the report", strerror(errno));
    MPI_Info_free(&hints);
    MPI_Barrier(MPI_COMM_WORLD); /* all have told what they did before any of them ends */
    MPI_Finalize();
    return 0;
}
