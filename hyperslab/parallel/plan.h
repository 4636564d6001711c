/* The plan: which datasets there are, which part of each is this rank's, and what it must hold.

   Its file has the struct `dataset` of each dataset for rank 0, then for rank 1 …, from plan.py. */

#define DIMS 4
#define DATASETS 64

typedef struct {
    char name[32], type; /* d, f, q, i, h or b: double, float, integers of 8 to 1 bytes */
    int guard, dims, chunked;
    long long shape[DIMS], chunk[DIMS], start[DIMS], count[DIMS];
    long long before; /* bytes of the datasets before it, in a plain file of all */
} dataset;

static int rank, ranks, datasets;
static dataset plan[DATASETS];

static void fail(const char *what, const char *why);

static size_t width(const dataset *d)
{
    return d->type == 'd' || d->type == 'q' ? 8 : d->type == 'h' ? 2 : d->type == 'b' ? 1 : 4;
}

static size_t cells(const dataset *d)
{
    size_t n = 1;
    for (int i = 0; i < d->dims; i++)
        n *= (size_t)d->count[i];
    return n;
}

static void read_plan(const char *path)
{
    FILE *from = fopen(path, "rb");
    if (!from)
        fail("the plan", strerror(errno));
    size_t n = (size_t)datasets;
    if (datasets > DATASETS || fseek(from, (long)(sizeof *plan * n * (size_t)rank), SEEK_SET)
        || fread(plan, sizeof *plan, n, from) != n)
        fail("the plan", "it has too many datasets, or ends early");
    fclose(from);
}

/* The value of the cell of a dataset with this place in storage order: whole in each type. */
static long long value(int k, unsigned long long place)
{
    int small = plan[k].type == 'b' || plan[k].type == 'h';
    unsigned long long modulus = small ? 127ULL : 16777213ULL;
    return (long long)((place * 31 + (unsigned long long)k * 7) % modulus);
}

static void put(long long v, char type, void *into)
{
    if (type == 'd')
        *(double *)into = (double)v;
    else if (type == 'f')
        *(float *)into = (float)v;
    else if (type == 'b')
        *(signed char *)into = (signed char)v;
    else if (type == 'h')
        *(short *)into = (short)v;
    else if (type == 'q')
        *(long long *)into = v;
    else
        *(int *)into = (int)v;
}

/* Put the values of this rank's part of a dataset into `into`: made ones, or those of a plain file
   that holds the datasets one after another. */
static void fill(const char *path, int k, char *into)
{
    const dataset *d = &plan[k];
    size_t n = cells(d), run = (size_t)d->count[d->dims - 1], one = width(d);
    FILE *from = path ? fopen(path, "rb") : NULL;
    if (path && !from)
        fail("the values", strerror(errno));
    long long at[DIMS] = {0};
    for (size_t i = 0; i < n; i += run, into += run * one) {
        unsigned long long place = 0;
        for (int j = 0; j < d->dims; j++)
            place = place * (unsigned long long)d->shape[j]
                + (unsigned long long)(d->start[j] + at[j]);
        for (size_t c = 0; c < run && !from; c++)
            put(value(k, place + c), d->type, into + c * one);
        if (from
            && (fseeko(from, d->before + (off_t)(place * one), SEEK_SET)
                || fread(into, one, run, from) != run))
            fail("the values", "their file ends early");
        for (int j = d->dims - 2; j >= 0 && ++at[j] == d->count[j]; j--)
            at[j] = 0;
    }
    if (from)
        fclose(from);
}
