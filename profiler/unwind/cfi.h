#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include <stdint.h>

#include "eh_frame.h"
#include "rule_set.h"

/*
 * Runs the call frame instructions of one function and adds their rules to `set`, with
 * offsets from `base`; code outside [base, base + limit) is left out. What follows an
 * instruction that is not supported gets RULE_NONE.
 */
void cfi_compile(const struct cie *cie, const struct fde *fde, uintptr_t base, uint32_t limit,
                 struct rule_set *set);

#endif
