#include "model.h"

#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "id_index.h"
#include "utf8.h"

struct model {
  const Perftools__Profiles__Profile *message;
  struct pprof_arena *arena;
  struct pprof_error *error;
  const char *const *strings;
  struct id_index mapping_ids, location_ids, function_ids;
  struct pprof_profile *out;
};

static int out_of_memory(const struct model *model) {
  pprof_error_set(model->error, model->arena->exhausted ? "over the limit of memory when decoded"
                                                        : "out of memory");
  return -1;
}

/* Sets *out to the string; `where` and `number` say who refers to it. */
static int string_get(const struct model *model, int64_t index, const char *where, uint64_t number,
                      const char **out) {
  size_t count = model->message->n_string_table;
  if (index < 0 || (uint64_t)index >= count) {
    pprof_error_set(model->error,
                    "%s %" PRIu64 ": the string index %" PRId64 " is out of range: %zu strings",
                    where, number, index, count);
    return -1;
  }
  *out = model->strings[index];
  return 0;
}

/* The text with each bad byte replaced; what follows a NUL is cut off already. */
static char *repaired_string(const struct model *model, const char *text) {
  size_t length = strlen(text);
  char *copy = pprof_arena_take_array(model->arena, utf8_repaired_max(length) + 1, 1);
  if (copy != NULL)
    copy[utf8_repair(text, length, copy)] = '\0';
  return copy;
}

static int make_strings(struct model *model, const struct message_findings *findings) {
  const Perftools__Profiles__Profile *message = model->message;
  model->strings = (const char *const *)message->string_table;
  if (findings->bad_strings == 0)
    return 0;
  const char **strings =
      pprof_arena_take_array(model->arena, message->n_string_table, sizeof(*strings));
  if (strings == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < message->n_string_table; i++) {
    const char *text = message->string_table[i];
    strings[i] = utf8_is_valid(text, strlen(text)) ? text : repaired_string(model, text);
    if (strings[i] == NULL)
      return out_of_memory(model);
  }
  model->strings = strings;
  return 0;
}

static int make_value_type(const struct model *model, const Perftools__Profiles__ValueType *from,
                           const char *where, size_t number, struct pprof_value_type *out) {
  if (string_get(model, from->type, where, number, &out->type) != 0)
    return -1;
  return string_get(model, from->unit, where, number, &out->unit);
}

static int make_sample_types(struct model *model) {
  const Perftools__Profiles__Profile *message = model->message;
  struct pprof_value_type *types =
      pprof_arena_take_array(model->arena, message->n_sample_type, sizeof(*types));
  if (types == NULL)
    return out_of_memory(model);
  if (message->n_sample_type == 0) {
    pprof_error_set(model->error, "an empty profile: it has no sample types");
    return -1;
  }
  for (size_t i = 0; i < message->n_sample_type; i++) {
    if (make_value_type(model, message->sample_type[i], "sample type number", i + 1, &types[i]) !=
        0)
      return -1;
  }
  model->out->header.sample_types = types;
  model->out->header.sample_type_count = message->n_sample_type;
  return 0;
}

/* Where 0 stands for none. */
static int optional_string(const struct model *model, int64_t index, const char *where,
                           const char **out) {
  if (index == 0) {
    *out = NULL;
    return 0;
  }
  return string_get(model, index, where, 1, out);
}

static int make_comments(struct model *model) {
  const Perftools__Profiles__Profile *message = model->message;
  const char **comments =
      pprof_arena_take_array(model->arena, message->n_comment, sizeof(*comments));
  if (comments == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < message->n_comment; i++) {
    if (string_get(model, message->comment[i], "comment number", i + 1, &comments[i]) != 0)
      return -1;
  }
  model->out->comments = comments;
  model->out->comment_count = message->n_comment;
  return 0;
}

static int make_header(struct model *model) {
  const Perftools__Profiles__Profile *message = model->message;
  struct pprof_header *header = &model->out->header;
  header->period = message->period;
  header->time_ns = message->time_nanos;
  header->duration_ns = message->duration_nanos;
  header->period_type = (struct pprof_value_type){.type = "", .unit = ""};
  if (make_sample_types(model) != 0 || make_comments(model) != 0 ||
      optional_string(model, message->default_sample_type, "default sample type",
                      &header->default_sample_type) != 0 ||
      optional_string(model, message->doc_url, "documentation address", &header->doc_url) != 0 ||
      string_get(model, message->drop_frames, "drop_frames", 1, &model->out->drop_frames) != 0 ||
      string_get(model, message->keep_frames, "keep_frames", 1, &model->out->keep_frames) != 0)
    return -1;
  if (message->period_type == NULL)
    return 0;
  return make_value_type(model, message->period_type, "period type", 1, &header->period_type);
}

static int make_mapping(const struct model *model, const Perftools__Profiles__Mapping *from,
                        struct pprof_mapping *out) {
  *out = (struct pprof_mapping){
      .start = from->memory_start,
      .limit = from->memory_limit,
      .file_offset = from->file_offset,
      .has_functions = from->has_functions,
      .has_filenames = from->has_filenames,
      .has_line_numbers = from->has_line_numbers,
      .has_inline_frames = from->has_inline_frames,
  };
  if (string_get(model, from->filename, "mapping", from->id, &out->path) != 0)
    return -1;
  return string_get(model, from->build_id, "mapping", from->id, &out->build_id);
}

static int make_mappings(struct model *model) {
  const Perftools__Profiles__Profile *message = model->message;
  size_t count = message->n_mapping;
  uint64_t *ids = pprof_arena_take_array(model->arena, count, sizeof(*ids));
  struct pprof_mapping *mappings = pprof_arena_take_array(model->arena, count, sizeof(*mappings));
  if (ids == NULL || mappings == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < count; i++) {
    ids[i] = message->mapping[i]->id;
    if (ids[i] > model->out->provenance.max_mapping_id)
      model->out->provenance.max_mapping_id = ids[i];
    if (make_mapping(model, message->mapping[i], &mappings[i]) != 0)
      return -1;
  }
  model->out->mappings = mappings;
  model->out->mapping_count = count;
  return id_index_create(ids, count, "mapping", model->arena, &model->mapping_ids, model->error);
}

static int make_function(const struct model *model, const Perftools__Profiles__Function *from,
                         struct pprof_function *out) {
  out->start_line = from->start_line;
  if (string_get(model, from->name, "function", from->id, &out->name) != 0 ||
      string_get(model, from->system_name, "function", from->id, &out->system_name) != 0)
    return -1;
  return string_get(model, from->filename, "function", from->id, &out->file);
}

static int make_functions(struct model *model) {
  const Perftools__Profiles__Profile *message = model->message;
  size_t count = message->n_function;
  uint64_t *ids = pprof_arena_take_array(model->arena, count, sizeof(*ids));
  struct pprof_function *functions =
      pprof_arena_take_array(model->arena, count, sizeof(*functions));
  if (ids == NULL || functions == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < count; i++) {
    ids[i] = message->function[i]->id;
    if (ids[i] > model->out->provenance.max_function_id)
      model->out->provenance.max_function_id = ids[i];
    if (make_function(model, message->function[i], &functions[i]) != 0)
      return -1;
  }
  model->out->functions = functions;
  model->out->function_count = count;
  return id_index_create(ids, count, "function", model->arena, &model->function_ids, model->error);
}

static int make_frames(const struct model *model, const Perftools__Profiles__Location *from,
                       struct pprof_location *out) {
  struct pprof_frame *frames = pprof_arena_take_array(model->arena, from->n_line, sizeof(*frames));
  if (frames == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < from->n_line; i++) {
    uint64_t id = from->line[i]->function_id;
    if (!id_index_find(&model->function_ids, id, &frames[i].function)) {
      pprof_error_set(model->error,
                      "location %" PRIu64 " refers to function %" PRIu64 ", which does not exist",
                      from->id, id);
      return -1;
    }
    frames[i].line = from->line[i]->line;
  }
  out->frames = frames;
  out->frame_count = from->n_line;
  return 0;
}

static int make_location(const struct model *model, const Perftools__Profiles__Location *from,
                         struct pprof_location *out) {
  *out = (struct pprof_location){
      .mapping = PPROF_NO_MAPPING,
      .address = from->address,
      .is_folded = from->is_folded,
  };
  if (from->mapping_id != 0 &&
      !id_index_find(&model->mapping_ids, from->mapping_id, &out->mapping)) {
    pprof_error_set(model->error,
                    "location %" PRIu64 " refers to mapping %" PRIu64 ", which does not exist",
                    from->id, from->mapping_id);
    return -1;
  }
  return make_frames(model, from, out);
}

static int make_locations(struct model *model) {
  const Perftools__Profiles__Profile *message = model->message;
  size_t count = message->n_location;
  uint64_t *ids = pprof_arena_take_array(model->arena, count, sizeof(*ids));
  struct pprof_location *locations =
      pprof_arena_take_array(model->arena, count, sizeof(*locations));
  if (ids == NULL || locations == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < count; i++) {
    ids[i] = message->location[i]->id;
    if (ids[i] > model->out->provenance.max_location_id)
      model->out->provenance.max_location_id = ids[i];
    if (make_location(model, message->location[i], &locations[i]) != 0)
      return -1;
  }
  model->out->locations = locations;
  model->out->location_count = count;
  return id_index_create(ids, count, "location", model->arena, &model->location_ids, model->error);
}

static int make_labels(const struct model *model, const Perftools__Profiles__Sample *from,
                       size_t number, struct pprof_sample *out) {
  struct pprof_label *labels = pprof_arena_take_array(model->arena, from->n_label, sizeof(*labels));
  if (labels == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < from->n_label; i++) {
    const Perftools__Profiles__Label *label = from->label[i];
    labels[i] = (struct pprof_label){.number = label->num};
    if (string_get(model, label->key, "sample number", number, &labels[i].key) != 0 ||
        (label->str != 0 &&
         string_get(model, label->str, "sample number", number, &labels[i].text) != 0) ||
        (label->num_unit != 0 &&
         string_get(model, label->num_unit, "sample number", number, &labels[i].unit) != 0))
      return -1;
  }
  out->labels = labels;
  out->label_count = from->n_label;
  return 0;
}

static int make_stack(const struct model *model, const Perftools__Profiles__Sample *from,
                      size_t number, struct pprof_sample *out) {
  uint32_t *stack = pprof_arena_take_array(model->arena, from->n_location_id, sizeof(*stack));
  if (stack == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < from->n_location_id; i++) {
    if (!id_index_find(&model->location_ids, from->location_id[i], &stack[i])) {
      pprof_error_set(model->error,
                      "sample number %zu refers to location %" PRIu64 ", which does not exist",
                      number, from->location_id[i]);
      return -1;
    }
  }
  out->locations = stack;
  out->location_count = from->n_location_id;
  return 0;
}

static int make_samples(struct model *model) {
  const Perftools__Profiles__Profile *message = model->message;
  struct pprof_sample *samples =
      pprof_arena_take_array(model->arena, message->n_sample, sizeof(*samples));
  if (samples == NULL)
    return out_of_memory(model);
  for (size_t i = 0; i < message->n_sample; i++) {
    const Perftools__Profiles__Sample *from = message->sample[i];
    if (from->n_value != message->n_sample_type) {
      pprof_error_set(model->error, "sample number %zu has %zu values for %zu sample types", i + 1,
                      from->n_value, message->n_sample_type);
      return -1;
    }
    samples[i].values = from->value;
    if (make_stack(model, from, i + 1, &samples[i]) != 0 ||
        make_labels(model, from, i + 1, &samples[i]) != 0)
      return -1;
  }
  model->out->samples = samples;
  model->out->sample_count = message->n_sample;
  return 0;
}

int model_create(const Perftools__Profiles__Profile *message,
                 const struct message_findings *findings, struct pprof_arena *arena,
                 struct pprof_profile *out, struct pprof_error *error) {
  struct model model = {.message = message, .arena = arena, .error = error, .out = out};
  out->provenance = (struct pprof_provenance){.bad_strings = findings->bad_strings,
                                              .first_bad_string = findings->first_bad_string};
  if (make_strings(&model, findings) != 0 || make_header(&model) != 0 ||
      make_mappings(&model) != 0 || make_functions(&model) != 0 || make_locations(&model) != 0)
    return -1;
  return make_samples(&model);
}
