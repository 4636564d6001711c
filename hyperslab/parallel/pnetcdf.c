/* Writes or reads the datasets of a plan with PnetCDF. */

#include "program.h"
#include <pnetcdf.h>

static void must(int status, const char *what)
{
    if (status != NC_NOERR)
        fail(what, ncmpi_strerror(status));
}

static int define(int in, const dataset *d)
{
    int dims[DIMS], made;
    for (int i = 0; i < d->dims; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.31s_%d", d->name, i);
        must(ncmpi_def_dim(in, name, (MPI_Offset)d->shape[i], &dims[i]), d->name);
    }
    nc_type type = d->type == 'd' ? NC_DOUBLE
        : d->type == 'f'          ? NC_FLOAT
        : d->type == 'b'          ? NC_BYTE
                                  : NC_INT;
    must(ncmpi_def_var(in, d->name, type, d->dims, dims, &made), d->name);
    return made;
}

static void transfer(int in, int variable, const dataset *d, void *values)
{
    MPI_Offset from[DIMS], count[DIMS], n = (MPI_Offset)cells(d);
    for (int i = 0; i < d->dims; i++)
        from[i] = (MPI_Offset)d->start[i], count[i] = (MPI_Offset)d->count[i];
    MPI_Datatype type = d->type == 'd' ? MPI_DOUBLE
        : d->type == 'f'               ? MPI_FLOAT
        : d->type == 'b'               ? MPI_SIGNED_CHAR
                                       : MPI_INT;
    if (reads)
        must(collective ? ncmpi_get_vara_all(in, variable, from, count, values, n, type)
                        : ncmpi_get_vara(in, variable, from, count, values, n, type), d->name);
    else
        must(collective ? ncmpi_put_vara_all(in, variable, from, count, values, n, type)
                        : ncmpi_put_vara(in, variable, from, count, values, n, type), d->name);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    int opened, variables[DATASETS];
    ready();
    phase *p = begin(reads ? "open" : "create");
    if (reads)
        must(ncmpi_open(MPI_COMM_WORLD, file, read_only ? NC_NOWRITE : NC_WRITE, hints, &opened),
             "the file");
    else
        must(ncmpi_create(MPI_COMM_WORLD, file, NC_CLOBBER | NC_64BIT_DATA, hints, &opened),
             "the file");
    for (int k = 0; k < datasets; k++)
        if (reads)
            must(ncmpi_inq_varid(opened, plan[k].name, &variables[k]), plan[k].name);
        else
            variables[k] = define(opened, &plan[k]);
    if (!reads)
        must(ncmpi_enddef(opened), "the header");
    if (!collective)
        must(ncmpi_begin_indep_data(opened), "the file");
    end(p);
    p = begin(reads ? "read" : "write");
    for (int i = 0; i < times; i++)
        for (int k = 0; k < datasets; k++)
            transfer(opened, variables[k], &plan[k], memory[k]);
    end(p);
    verify();
    p = begin("close");
    if (!collective)
        must(ncmpi_end_indep_data(opened), "the file");
    must(ncmpi_close(opened), "the file");
    end(p);
    char version[64];
    snprintf(version, sizeof version, "PnetCDF %s", ncmpi_inq_libvers());
    version[strcspn(version, "\"\\\n")] = 0;
    char *of = strstr(version + 8, " of ");
    if (of)
        *of = 0;
    return finish(version);
}
