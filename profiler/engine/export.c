#include "export.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/builder.h"
#include "sampler/labels.h"
#include "sampler/threads.h"
#include "symbolize/symbolize.h"
#include "unwind/unwind.h"

/* Inlined functions at one address; deeper nesting is cut. */
#define LINES_MAX 64

/* Guards the symbolizer, which lives as long as the process. Taken with no other lock held. */
static pthread_mutex_t symbolizer_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct symbolizer *symbolizer;

static const struct pprof_value_type cpu_types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
static const struct pprof_value_type heap_types[] = {{"alloc_objects", "count"},
                                                     {"alloc_space", "bytes"},
                                                     {"inuse_objects", "count"},
                                                     {"inuse_space", "bytes"}};

/* One profile being made. */
struct job {
  struct pprof_builder *builder;
  uint64_t *mappings; /* pprof's identifier by module number, 0: not added */
  uint32_t module_count;
};

static struct pprof_header header_of(const struct export *export) {
  struct pprof_header header = {
      .time_ns = export->time_ns, .duration_ns = export->duration_ns, .period = export->period};
  if (export->type == FOLIO_CPU) {
    header.sample_types = cpu_types;
    header.sample_type_count = 2;
    header.period_type = cpu_types[1];
  } else {
    header.sample_types = heap_types;
    header.sample_type_count = 4;
    header.period_type = (struct pprof_value_type){"space", "bytes"};
    if (export->type == FOLIO_ALLOCS)
      header.default_sample_type = "alloc_space";
  }
  return header;
}

static uint64_t add_mapping(struct job *job, const struct module *module) {
  const struct pprof_mapping mapping = {.start = module->start,
                                        .limit = module->end,
                                        .file_offset = module->file_offset,
                                        .path = module->path,
                                        .build_id = module->build_id,
                                        .has_functions = 1,
                                        .has_filenames = 1,
                                        .has_line_numbers = 1,
                                        .has_inline_frames = 1};
  return pprof_builder_mapping(job->builder, &mapping);
}

static uint64_t mapping_of(struct job *job, const struct module *module) {
  if (module == NULL || module->number >= job->module_count)
    return 0;
  if (job->mappings[module->number] == 0)
    job->mappings[module->number] = add_mapping(job, module);
  return job->mappings[module->number];
}

/* A location that is no code: it says why a stack does not begin where a thread does. */
static uint64_t pseudo_location(struct job *job, const char *name) {
  const struct pprof_line line = {.name = name, .system_name = name, .file = ""};
  return pprof_builder_location(job->builder, 0, 0, &line, 1);
}

static const char *missing_part(uint8_t end) {
  switch (end) {
  case UNWIND_COMPLETE:
    return NULL;
  case UNWIND_TOO_DEEP:
    return "[truncated: stack too deep]";
  case UNWIND_NO_MODULE:
    return "[incomplete: code without an object file]";
  case UNWIND_NO_RULE:
    return "[incomplete: no unwind rule]";
  default:
    return "[incomplete: unreadable stack]";
  }
}

static const struct symbol *find_symbol(const struct frame *frame) {
  const struct module *module = frame->module;
  const struct symbol_object object = {.number = module->number,
                                       .path = module->path,
                                       .build_id = module->build_id,
                                       .bias = module->bias};
  return symbolizer_find(symbolizer, &object, frame->address);
}

static uint64_t location_of(struct job *job, const struct frame *frame,
                            const struct symbol *symbol) {
  struct pprof_line lines[LINES_MAX];
  size_t count = symbol->line_count < LINES_MAX ? symbol->line_count : LINES_MAX;
  for (size_t i = 0; i < count; i++) {
    const struct symbol_line *line = &symbol->lines[i];
    lines[i] = (struct pprof_line){.name = line->name,
                                   .system_name = line->linkage,
                                   .file = line->file,
                                   .line = line->line,
                                   .start_line = line->start_line};
  }
  return pprof_builder_location(job->builder, mapping_of(job, frame->module), frame->address, lines,
                                count);
}

/* The locations of a stack, leaf first; neighbours without names in one object are one. */
static size_t locate(struct job *job, const struct bucket_key *key, uint64_t *locations) {
  size_t count = 0;
  const struct module *nameless = NULL;
  for (uint16_t i = 0; i < key->depth; i++) {
    const struct frame *frame = &key->frames[i];
    if (frame->module == NULL) {
      locations[count++] = pseudo_location(job, "[unknown code]");
      nameless = NULL;
      continue;
    }
    const struct symbol *symbol = find_symbol(frame);
    if (!symbol->known && frame->module == nameless)
      continue;
    nameless = symbol->known ? NULL : frame->module;
    locations[count++] = location_of(job, frame, symbol);
  }
  const char *missing = missing_part(key->end);
  if (missing != NULL)
    locations[count++] = pseudo_location(job, missing);
  return count;
}

static size_t labels_of(const struct bucket_key *key, struct pprof_label *labels) {
  size_t count = 0;
  for (int i = 0; i < LABELS_MAX; i++) {
    if (key->labels[i].key != 0)
      labels[count++] = (struct pprof_label){.key = label_text(key->labels[i].key),
                                             .text = label_text(key->labels[i].value)};
  }
  if (key->size != 0)
    labels[count++] =
        (struct pprof_label){.key = "bytes", .number = (int64_t)key->size, .unit = "bytes"};
  return count;
}

static void add_bucket(struct job *job, const struct bucket *bucket) {
  uint64_t locations[STACK_DEPTH_MAX + 1];
  struct pprof_label labels[LABELS_MAX + 1];
  int64_t values[VALUES_MAX];
  int64_t any = 0;
  for (int i = 0; i < VALUES_MAX; i++) {
    values[i] = llround(bucket->values[i]);
    any |= values[i];
  }
  if (any == 0)
    return;
  size_t location_count = locate(job, &bucket->key, locations);
  pprof_builder_sample(job->builder, locations, location_count, values, labels,
                       labels_of(&bucket->key, labels));
}

/* What found no place of its own (aggregate.h: bucket 0). */
static void add_overflow(struct job *job, const struct bucket *bucket) {
  uint64_t location = pseudo_location(job, "[other stacks: the table is full]");
  int64_t values[VALUES_MAX];
  for (int i = 0; i < VALUES_MAX; i++)
    values[i] = llround(bucket->values[i]);
  pprof_builder_sample(job->builder, &location, 1, values, NULL, 0);
}

static void add_all(struct job *job, const struct export *export) {
  mapping_of(job, export->main_program); /* pprof takes the first for the main program */
  struct bucket *overflow = aggregate_at(export->samples, 0);
  if (overflow->values[0] > 0 || overflow->values[2] > 0)
    add_overflow(job, overflow);
  for (uint32_t i = 1; i < aggregate_count(export->samples); i++)
    add_bucket(job, aggregate_at(export->samples, i));
  for (size_t i = 0; i < export->comment_count; i++)
    pprof_builder_comment(job->builder, export->comments[i]);
}

int export_profile(const struct export *export, void **out, size_t *out_size) {
  int outcome = -1;
  struct pprof_header header = header_of(export);
  struct job job = {.module_count = export->module_count};
  job.mappings = calloc(job.module_count + 1, sizeof(*job.mappings));
  job.builder = pprof_builder_create(&header);
  pthread_mutex_lock(&symbolizer_mutex);
  if (symbolizer == NULL)
    symbolizer = symbolizer_create(0);
  if (symbolizer != NULL && job.mappings != NULL && job.builder != NULL) {
    add_all(&job, export);
    symbolizer_release_files(symbolizer);
    outcome = pprof_builder_finish(job.builder, out, out_size);
    job.builder = NULL;
  }
  pthread_mutex_unlock(&symbolizer_mutex);
  pprof_builder_discard(job.builder);
  free(job.mappings);
  return outcome;
}

size_t export_memory_bytes(void) {
  pthread_mutex_lock(&symbolizer_mutex);
  size_t bytes = symbolizer != NULL ? symbolizer_memory_bytes(symbolizer) : 0;
  pthread_mutex_unlock(&symbolizer_mutex);
  return bytes;
}
