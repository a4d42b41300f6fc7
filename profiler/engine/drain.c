/*
 * From records to sums: each published sample is resolved to modules while they are
 * what they were when it was taken, and added to every session that wants it.
 */
#include <math.h>

#include "engine.h"
#include "sampler/heap.h"
#include "sampler/live.h"
#include "sampler/sampler.h"
#include "sampler/threads.h"
#include "unwind/unwind.h"

/*
 * The first address of a CPU sample is the instruction itself. All others, and the
 * first of an allocation, are return addresses: one byte back lies in the call.
 */
static void resolve(const struct record *record, struct frame *frames) {
  for (uint16_t i = 0; i < record->depth; i++) {
    uintptr_t address = record->pcs[i];
    if (i > 0 || record->kind != RECORD_CPU)
      address--;
    const struct module *module = module_find(address);
    if (module == NULL && modules_changed() && unwind_refresh() == 0)
      module = module_find(address);
    frames[i] = (struct frame){.module = module, .address = address};
  }
}

static void add(struct aggregate *aggregate, const struct bucket_key *key, double count,
                double amount) {
  struct bucket *bucket = aggregate_at(aggregate, aggregate_find(aggregate, key));
  bucket->values[0] += count;
  bucket->values[1] += amount;
}

static void add_cpu(const struct record *record, const struct bucket_key *key) {
  double period_ns = 1e9 / engine.options.cpu_hz;
  for (struct folio_session *session = engine.sessions; session != NULL; session = session->next) {
    if (session->type == FOLIO_CPU && session->ended_ns == 0)
      add(session->samples, key, record->weight, record->weight * period_ns);
  }
}

double engine_objects_per_sample(uint64_t size) {
  return 1.0 / -expm1(-(double)size / (double)heap_period());
}

static void add_allocation(const struct record *record, const struct bucket_key *key) {
  double objects = engine_objects_per_sample(record->size);
  double bytes = objects * (double)record->size;
  uint32_t number = aggregate_find(engine.allocations, key);
  struct bucket *bucket = aggregate_at(engine.allocations, number);
  bucket->values[0] += objects;
  bucket->values[1] += bytes;
  if (record->serial != 0 && live_find(record->address) == record->serial &&
      live_index_add(engine.live, record->serial, number, record->size) != 0)
    sampler_count(&sampler.lost_live_full);
  for (struct folio_session *session = engine.sessions; session != NULL; session = session->next) {
    if (session->type != FOLIO_CPU && session->ended_ns == 0)
      add(session->samples, key, objects, bytes);
  }
}

size_t engine_drain(void) {
  size_t count = 0;
  static struct frame frames[STACK_DEPTH_MAX]; /* under the mutex */
  struct region *region = atomic_load_explicit(&sampler.region, memory_order_acquire);
  if (region == NULL)
    return 0;
  for (const struct record *record = region_peek(region); record != NULL;
       record = region_peek(region)) {
    resolve(record, frames);
    struct bucket_key key = {
        .frames = frames, .depth = record->depth, .end = record->end, .size = record->size};
    for (int i = 0; i < LABELS_MAX; i++)
      key.labels[i] = record->labels[i];
    if (record->kind == RECORD_CPU)
      add_cpu(record, &key);
    else if (engine.allocations != NULL)
      add_allocation(record, &key);
    region_consume(region);
    count++;
  }
  if (modules_changed())
    unwind_refresh();
  return count;
}
