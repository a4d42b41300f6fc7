/*
 * Design notes
 *
 * `buckets` are heads of chains that only grow. A reader walks a chain without a
 * lock: an entry is complete before it becomes a head (release), which the reader
 * loads (acquire). `mutex` orders those who add; it is taken with no other lock held
 * and never in a handler. `texts` is written before the number is given out.
 */
#include "sampler/labels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sampler/threads.h"

#define BUCKETS 1024

struct entry {
  struct entry *next;
  uint64_t hash;
  uint16_t number;
  char text[];
};

static _Atomic(struct entry *) buckets[BUCKETS];
static _Atomic(const char *) texts[LABEL_STRINGS_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint16_t last_number;

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_of(const char *text, size_t length) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
  return hash;
}

static const struct entry *find(uint64_t hash, const char *text, size_t length) {
  const struct entry *entry = atomic_load_explicit(&buckets[hash % BUCKETS], memory_order_acquire);
  while (entry != NULL && (entry->hash != hash || strncmp(entry->text, text, length) != 0 ||
                           entry->text[length] != '\0'))
    entry = entry->next;
  return entry;
}

/* Under the mutex. */
static uint16_t add(uint64_t hash, const char *text, size_t length) {
  if (last_number == LABEL_STRINGS_MAX - 1)
    return 0;
  struct entry *entry = malloc(sizeof(*entry) + length + 1);
  if (entry == NULL)
    return 0;
  memcpy(entry->text, text, length);
  entry->text[length] = '\0';
  entry->hash = hash;
  entry->number = ++last_number;
  entry->next = atomic_load_explicit(&buckets[hash % BUCKETS], memory_order_relaxed);
  atomic_store_explicit(&texts[entry->number], entry->text, memory_order_release);
  atomic_store_explicit(&buckets[hash % BUCKETS], entry, memory_order_release);
  return entry->number;
}

uint16_t label_intern(const char *text) {
  size_t length = strnlen(text, LABEL_BYTES_MAX);
  uint64_t hash = hash_of(text, length);
  const struct entry *entry = find(hash, text, length);
  if (entry != NULL)
    return entry->number;
  pthread_mutex_lock(&mutex);
  entry = find(hash, text, length);
  uint16_t number = entry != NULL ? entry->number : add(hash, text, length);
  pthread_mutex_unlock(&mutex);
  return number;
}

const char *label_text(uint16_t number) {
  const char *text = number < LABEL_STRINGS_MAX
                         ? atomic_load_explicit(&texts[number], memory_order_acquire)
                         : NULL;
  return text != NULL ? text : "";
}

int label_set(uint16_t key, uint16_t value) {
  struct thread_slot *slot = thread_slot_own();
  if (slot == NULL && threads_init(THREADS_DEFAULT) == 0)
    slot = thread_slot_own();
  if (slot == NULL)
    return -1;
  int place = -1;
  for (int i = 0; i < LABELS_MAX; i++) {
    uint32_t pair = atomic_load_explicit(&slot->labels[i], memory_order_relaxed);
    if (pair >> 16 == key) {
      place = i;
      break;
    }
    if (pair == 0 && place < 0)
      place = i;
  }
  if (place < 0)
    return value == 0 ? 0 : -1;
  uint32_t pair = value == 0 ? 0 : (uint32_t)key << 16 | value;
  atomic_store_explicit(&slot->labels[place], pair, memory_order_relaxed);
  return 0;
}
