/* Writes or reads the datasets of a plan with parallel HDF5. */

#include "program.h"
#include <hdf5.h>
#ifndef H5_HAVE_PARALLEL
#error "this HDF5 is not parallel"
#endif

static char said[512];

static herr_t note(unsigned n, const H5E_error2_t *entry, void *unused)
{
    (void)unused;
    if (!n || strstr(entry->desc, "MPI error string"))
        snprintf(said, sizeof said, "%s", entry->desc);
    return 0;
}

static hid_t must(hid_t got, const char *what)
{
    if (got < 0) {
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note, NULL);
        fail(what, said);
    }
    return got;
}

static hid_t memory_type(const dataset *d)
{
    return d->type == 'd' ? H5T_NATIVE_DOUBLE
        : d->type == 'f'  ? H5T_NATIVE_FLOAT
        : d->type == 'b'  ? H5T_NATIVE_SCHAR
        : d->type == 'h'  ? H5T_NATIVE_INT16
        : d->type == 'q'  ? H5T_NATIVE_INT64
                          : H5T_NATIVE_INT;
}

static void spaces(const dataset *d, hid_t *part, hid_t *memory)
{
    hsize_t shape[DIMS], from[DIMS], count[DIMS];
    for (int i = 0; i < d->dims; i++)
        shape[i] = (hsize_t)d->shape[i], from[i] = (hsize_t)d->start[i],
        count[i] = (hsize_t)d->count[i];
    *part = must(H5Screate_simple(d->dims, shape, NULL), d->name);
    *memory = must(H5Screate_simple(d->dims, count, NULL), d->name);
    must(H5Sselect_hyperslab(*part, H5S_SELECT_SET, from, NULL, count, NULL), d->name);
}

static hid_t create(hid_t in, const dataset *d, hid_t space)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER); /* else the chunks are written twice */
    hsize_t chunk[DIMS];
    for (int i = 0; i < d->dims; i++)
        chunk[i] = (hsize_t)d->chunk[i];
    if (d->chunked)
        must(H5Pset_chunk(properties, d->dims, chunk), d->name);
    if (shuffle)
        must(H5Pset_shuffle(properties), d->name);
    if (deflate)
        must(H5Pset_deflate(properties, (unsigned)deflate), d->name);
    hid_t made = must(H5Dcreate2(in, d->name, memory_type(d), space, H5P_DEFAULT, properties,
                                 H5P_DEFAULT), d->name);
    H5Pclose(properties);
    return made;
}

int main(int argc, char **argv)
{
    start(argc, argv);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t how = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    if (!serial) {
        must(H5Pset_fapl_mpio(how, MPI_COMM_WORLD, hints), "the file");
        H5Pset_dxpl_mpio(transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
        if (individual)
            must(H5Pset_dxpl_mpio_collective_opt(transfer, H5FD_MPIO_INDIVIDUAL_IO), "the option");
    }
    hid_t sets[DATASETS], parts[DATASETS], shapes[DATASETS];
    for (int k = 0; k < datasets; k++)
        spaces(&plan[k], &parts[k], &shapes[k]);
    ready();
    phase *p = begin(reads ? "open" : "create");
    hid_t opened = reads ? H5Fopen(file, read_only ? H5F_ACC_RDONLY : H5F_ACC_RDWR, how)
                         : H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, how);
    must(opened, "the file");
    for (int k = 0; k < datasets; k++)
        sets[k] = reads ? must(H5Dopen2(opened, plan[k].name, H5P_DEFAULT), plan[k].name)
                        : create(opened, &plan[k], parts[k]);
    end(p);
    p = begin(reads ? "read" : "write");
    for (int i = 0; i < times; i++)
        for (int k = 0; k < datasets; k++) {
            hid_t type = memory_type(&plan[k]);
            must(reads ? H5Dread(sets[k], type, shapes[k], parts[k], transfer, memory[k])
                       : H5Dwrite(sets[k], type, shapes[k], parts[k], transfer, memory[k]),
                 plan[k].name);
        }
    end(p);
    verify();
    p = begin("close");
    for (int k = 0; k < datasets; k++)
        must(H5Dclose(sets[k]), plan[k].name);
    must(H5Fclose(opened), "the file");
    end(p);
    char version[32];
    unsigned a, b, c;
    H5get_libversion(&a, &b, &c);
    snprintf(version, sizeof version, "HDF5 %u.%u.%u", a, b, c);
    return finish(version);
}
