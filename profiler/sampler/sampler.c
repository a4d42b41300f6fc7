#include "sampler/sampler.h"

#include "unwind/unwind.h"

struct sampler sampler;

void sampler_count_end(unsigned end) {
  if (end == UNWIND_TOO_DEEP)
    sampler_count(&sampler.truncated);
  else if (end != UNWIND_COMPLETE)
    sampler_count(&sampler.incomplete);
}
