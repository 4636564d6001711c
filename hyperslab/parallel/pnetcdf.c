/* Writes the datasets of a plan with PnetCDF. */

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

static void put_part(int in, int variable, const dataset *d, void *values)
{
    MPI_Offset from[DIMS], count[DIMS], n = (MPI_Offset)cells(d);
    for (int i = 0; i < d->dims; i++)
        from[i] = (MPI_Offset)d->start[i], count[i] = (MPI_Offset)d->count[i];
    MPI_Datatype type = d->type == 'd' ? MPI_DOUBLE
        : d->type == 'f'               ? MPI_FLOAT
        : d->type == 'b'               ? MPI_SIGNED_CHAR
                                       : MPI_INT;
    must(collective ? ncmpi_put_vara_all(in, variable, from, count, values, n, type)
                    : ncmpi_put_vara(in, variable, from, count, values, n, type), d->name);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    int made, variables[DATASETS];
    ready();
    phase *p = begin("create");
    must(ncmpi_create(MPI_COMM_WORLD, file, NC_CLOBBER | NC_64BIT_DATA, hints, &made), "the file");
    for (int k = 0; k < datasets; k++)
        variables[k] = define(made, &plan[k]);
    must(ncmpi_enddef(made), "the header");
    if (!collective)
        must(ncmpi_begin_indep_data(made), "the file");
    end(p);
    p = begin("write");
    for (int k = 0; k < datasets; k++)
        put_part(made, variables[k], &plan[k], memory[k]);
    end(p);
    verify();
    p = begin("close");
    if (!collective)
        must(ncmpi_end_indep_data(made), "the file");
    must(ncmpi_close(made), "the file");
    end(p);
    char version[64];
    snprintf(version, sizeof version, "PnetCDF %s", ncmpi_inq_libvers());
    version[strcspn(version, "\"\\\n")] = 0;
    char *of = strstr(version + 8, " of ");
    if (of)
        *of = 0;
    return finish(version);
}
