/* Loops of accesses to netCDF, HDF5 and plain files, with the clock around them.
 *
 * The functions of netCDF-C and HDF5 arrive as pointers, so that no header is needed and the very
 * libraries run that Python has loaded. Block i of the buffer follows block i - 1, or, where
 * `reuse` is set, lies at the buffer's start. All return 0, or the library's error with the number
 * of the call in `failed`.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HS_READ = 0, HS_WRITE = 1 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t product(const uint64_t *counts, int rank) {
    size_t n = 1;
    for (int axis = 0; axis < rank; axis++)
        n *= (size_t)counts[axis];
    return n;
}

/* ---------------------------------------------------------------- netCDF-C */

typedef int (*vara_fn)(int, int, const uint64_t *, const uint64_t *, void *);
typedef int (*vars_fn)(int, int, const uint64_t *, const uint64_t *, const int64_t *, void *);

/* `function` is nc_get_vara or nc_put_vara; with strides, nc_get_vars or nc_put_vars. */
int hs_netcdf(void *function, int file, int variable, int rank, int64_t calls,
              const uint64_t *starts, const uint64_t *counts, const int64_t *strides, char *buffer,
              size_t itemsize, int reuse, double *seconds, int64_t *failed) {
    vara_fn vara = (vara_fn)function;
    vars_fn vars = (vars_fn)function;
    int status = 0;
    double began = now();
    for (int64_t i = 0; i < calls; i++) {
        const uint64_t *start = starts + i * rank, *count = counts + i * rank;
        status = strides ? vars(file, variable, start, count, strides + i * rank, buffer)
                         : vara(file, variable, start, count, buffer);
        if (status) {
            *failed = i;
            break;
        }
        if (!reuse)
            buffer += itemsize * product(count, rank);
    }
    *seconds = now() - began;
    return status;
}

/* A call with the file alone, and fsync after it: nc_sync, nc_close. `path` may be NULL. */
int hs_netcdf_done(void *function, int file, const char *path, double *seconds) {
    double began = now();
    int status = ((int (*)(int))function)(file);
    if (!status && path) {
        int descriptor = open(path, O_RDONLY);
        if (descriptor < 0 || fsync(descriptor))
            status = errno;
        if (descriptor >= 0)
            close(descriptor);
    }
    *seconds = now() - began;
    return status;
}

/* -------------------------------------------------------------------- HDF5 */

typedef int64_t hid_t;

struct hdf5 {
    int (*transfer)(hid_t, hid_t, hid_t, hid_t, hid_t, void *); /* H5Dread or H5Dwrite */
    hid_t (*get_space)(hid_t);
    hid_t (*create_simple)(int, const uint64_t *, const uint64_t *);
    int (*select)(hid_t, int, const uint64_t *, const uint64_t *, const uint64_t *, const uint64_t *);
    int (*close_space)(hid_t);
    hid_t (*create_list)(hid_t);
    int (*close_list)(hid_t);
    int (*close_dataset)(hid_t);
    int (*close_file)(hid_t);
};

/* `keep`: the file's dataspace is got once, and memory's made again only for another shape.
 * `list_class`: a property list of this class is made in every call; 0 uses the default one. */
int hs_hdf5(const struct hdf5 *h5, hid_t dataset, hid_t type, int keep, hid_t list_class, int rank,
            int64_t calls, const uint64_t *starts, const uint64_t *counts, const uint64_t *strides,
            char *buffer, size_t itemsize, int reuse, double *seconds, int64_t *failed) {
    hid_t file_space = -1, memory_space = -1;
    int status = 0;
    double began = now();
    for (int64_t i = 0; i < calls && !status; i++) {
        const uint64_t *start = starts + i * rank, *count = counts + i * rank;
        int first = !keep || !i;
        if (first)
            file_space = h5->get_space(dataset);
        if (first || memcmp(count, count - rank, (size_t)rank * sizeof *count)) {
            if (!first)
                h5->close_space(memory_space);
            memory_space = h5->create_simple(rank, count, NULL);
        }
        if (file_space < 0 || memory_space < 0)
            status = -1;
        else if (rank)
            status = h5->select(file_space, 0, start, strides ? strides + i * rank : NULL, count,
                                NULL);
        hid_t list = list_class ? h5->create_list(list_class) : 0;
        if (list < 0)
            status = -1;
        if (status >= 0)
            status = h5->transfer(dataset, type, memory_space, file_space, list, buffer);
        if (list > 0)
            h5->close_list(list);
        if (status < 0)
            *failed = i;
        else
            status = 0;
        if (!reuse)
            buffer += itemsize * product(count, rank);
        if (!keep || status || i + 1 == calls) {
            h5->close_space(memory_space);
            h5->close_space(file_space);
        }
    }
    *seconds = now() - began;
    return status;
}

int hs_hdf5_close(const struct hdf5 *h5, hid_t file, hid_t dataset, double *seconds) {
    double began = now();
    int status = h5->close_dataset(dataset);
    int closed = h5->close_file(file);
    *seconds = now() - began;
    return status < 0 ? status : closed;
}

/* ------------------------------------------------------------- plain files */

static int whole(int descriptor, int action, char *buffer, size_t length, int64_t offset) {
    while (length) { /* one call moves at most 2 GiB */
        ssize_t moved = action == HS_WRITE ? pwrite(descriptor, buffer, length, (off_t)offset)
                                           : pread(descriptor, buffer, length, (off_t)offset);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return moved ? errno : -1;
        buffer += moved;
        offset += moved;
        length -= (size_t)moved;
    }
    return 0;
}

/* Note the seconds of a call, where each one's are wanted. */
static void tick(double *each, int64_t call, double *last) {
    if (each) {
        double t = now();
        each[call] = t - *last;
        *last = t;
    }
}

/* pread or pwrite of pieces, or, where there is a stream, fread of them with a seek where a piece
 * does not follow the last; status -1 is the end of the file. */
int hs_plain(int descriptor, FILE *stream, int action, int64_t calls, const int64_t *offsets,
             const int64_t *lengths, char *buffer, int reuse, double *each, double *seconds,
             int64_t *failed) {
    int64_t place = -1;
    int status = 0;
    double began = now(), last = began;
    for (int64_t i = 0; i < calls; i++) {
        if (!stream)
            status = whole(descriptor, action, buffer, (size_t)lengths[i], offsets[i]);
        else if (place != offsets[i] && fseeko(stream, (off_t)offsets[i], SEEK_SET))
            status = errno;
        else if (fread(buffer, 1, (size_t)lengths[i], stream) != (size_t)lengths[i])
            status = ferror(stream) ? EIO : -1;
        if (status) {
            *failed = i;
            break;
        }
        place = offsets[i] + lengths[i];
        if (!reuse)
            buffer += lengths[i];
        tick(each, i, &last);
    }
    *seconds = now() - began;
    return status;
}

/* Close the stream, which closes its descriptor, or the descriptor where `stream` is NULL. */
int hs_close(int descriptor, FILE *stream, double *seconds) {
    double began = now();
    int status = (stream ? fclose(stream) : close(descriptor)) ? errno : 0;
    *seconds = now() - began;
    return status;
}

int hs_fsync(int descriptor, double *seconds) {
    double began = now();
    int status = fsync(descriptor) ? errno : 0;
    *seconds = now() - began;
    return status;
}
