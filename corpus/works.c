#include "works.h"

const struct work works[] = {
#include "works_rows.inc"
};

const size_t works_count = sizeof works / sizeof works[0];

const char works_stand_in_sha256[] =
    "cf01b20a1884f02fcaff031848d491a32cb1a3bd9983f2867e12859d31880233";
