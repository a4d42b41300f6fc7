/*
 * Design notes
 *
 * An open hash table without tombstones: an object lies within PROBE_MAX places of
 * its hash, and a look-up always reads all of them. An object is owned by one
 * thread while it is added or removed (it came from malloc just now, or goes to
 * free), so one address is never added twice at once.
 *
 * A place is taken by a compare-and-swap of its key from 0 to BUSY; the serial is
 * written; the key's store (release) publishes both. The reader loads the key
 * (acquire), the serial, and the key again: if it is the same, the pair belonged together
 * or was replaced by a younger object at the same address, which is alive as well.
 *
 * `live_filter` counts the objects of a hash, saturating: a count that reached 255
 * stays. The filter is raised before the object is in the map and lowered after
 * it left, so that it never denies an object that is there.
 */
#include "live_map.h"

#include <sys/mman.h>

#define PROBE_MAX 16
#define BUSY 1

struct place {
  atomic_uintptr_t key; /* 0 free, BUSY, or the object's address */
  atomic_uint_fast64_t serial;
};

atomic_uchar live_filter[1 << LIVE_FILTER_BITS];

static struct place *places;
static uint32_t place_count;

int live_init(uint32_t count) {
  if (places != NULL)
    return 0;
  uint32_t rounded = 1024;
  /* Twice the room keeps a full neighbourhood improbable. */
  while (rounded / 2 < count && rounded < (1U << 28))
    rounded *= 2;
  void *memory = mmap(NULL, rounded * sizeof(*places), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return -1;
  places = memory;
  place_count = rounded;
  return 0;
}

/*
 * MurmurHash3's finalizer (https://github.com/aappleby/smhasher): objects of one size lie at equal
 * distances, which a mere multiplication maps to crowded neighbourhoods.
 */
static uint32_t hash_of(uintptr_t address) {
  uint64_t hash = address;
  hash = (hash ^ (hash >> 33)) * UINT64_C(0xFF51AFD7ED558CCD);
  hash = (hash ^ (hash >> 33)) * UINT64_C(0xC4CEB9FE1A85EC53);
  return (uint32_t)(hash ^ (hash >> 33));
}

static struct place *probe(uintptr_t address, uint32_t step) {
  return &places[(hash_of(address) + step) & (place_count - 1)];
}

static void raise_filter(const void *object, int by) {
  atomic_uchar *count = live_filter_of(object);
  unsigned char before = atomic_load_explicit(count, memory_order_relaxed);
  do {
    if (before == 255)
      return;
  } while (!atomic_compare_exchange_weak_explicit(count, &before, (unsigned char)(before + by),
                                                  memory_order_relaxed, memory_order_relaxed));
}

bool live_add(const void *object, uint64_t serial) {
  uintptr_t address = (uintptr_t)object;
  raise_filter(object, 1);
  for (uint32_t step = 0; places != NULL && step < PROBE_MAX; step++) {
    struct place *place = probe(address, step);
    uintptr_t free_key = 0;
    if (!atomic_compare_exchange_strong_explicit(&place->key, &free_key, BUSY, memory_order_acquire,
                                                 memory_order_relaxed))
      continue;
    atomic_store_explicit(&place->serial, serial, memory_order_relaxed);
    atomic_store_explicit(&place->key, address, memory_order_release);
    return true;
  }
  raise_filter(object, -1);
  return false;
}

static struct place *find(uintptr_t address) {
  if (address == 0) /* free(NULL): a free place is no object */
    return NULL;
  for (uint32_t step = 0; places != NULL && step < PROBE_MAX; step++) {
    struct place *place = probe(address, step);
    if (atomic_load_explicit(&place->key, memory_order_acquire) == address)
      return place;
  }
  return NULL;
}

uint64_t live_remove(const void *object) {
  struct place *place = find((uintptr_t)object);
  if (place == NULL)
    return 0;
  uint64_t serial = atomic_load_explicit(&place->serial, memory_order_relaxed);
  atomic_store_explicit(&place->key, 0, memory_order_release);
  raise_filter(object, -1);
  return serial;
}

uint64_t live_find(uintptr_t address) {
  struct place *place = find(address);
  return place != NULL ? atomic_load_explicit(&place->serial, memory_order_relaxed) : 0;
}

void live_visit(void (*visit)(void *context, uint64_t serial), void *context) {
  for (uint32_t i = 0; i < place_count; i++) {
    uintptr_t key = atomic_load_explicit(&places[i].key, memory_order_acquire);
    if (key == 0 || key == BUSY)
      continue;
    uint64_t serial = atomic_load_explicit(&places[i].serial, memory_order_relaxed);
    if (atomic_load_explicit(&places[i].key, memory_order_acquire) == key)
      visit(context, serial);
  }
}

size_t live_bytes(void) {
  return place_count * sizeof(*places) + sizeof(live_filter);
}
