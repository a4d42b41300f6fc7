#include "pprof/builder.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gzip.h"
#include "intern.h"
#include "profile.pb-c.h"
#include "utf8.h"
#include "wire.h"

/* Field numbers of Profile. */
enum {
  FIELD_SAMPLE = 2,
  FIELD_MAPPING = 3,
  FIELD_LOCATION = 4,
  FIELD_FUNCTION = 5,
  FIELD_STRING_TABLE = 6,
};

/* Of Mapping, Location and Function: the tag of their first field, the identifier. */
#define ID_TAG 0x08

/*
 * Mappings, locations and functions are interned as their encoding without the
 * identifier, which is their number there + 1 and is put before it at the end.
 */
struct pprof_builder {
  struct intern strings; /* raw; number 0 is "" */
  struct intern mappings, locations, functions;
  struct wire_buffer samples;          /* encoded fields of Profile */
  struct wire_buffer packed;           /* the message being interned */
  struct wire_buffer text;             /* the string being repaired */
  struct wire_buffer pieces;           /* messages inside the one being encoded */
  struct wire_buffer comments;         /* int64_t each */
  Perftools__Profiles__Profile header; /* without the parts above and the sample types */
  Perftools__Profiles__ValueType period_type;
  Perftools__Profiles__ValueType *sample_types;
  size_t sample_type_count;
  bool failed;
};

/* The index of the string, once repaired. */
static int64_t string_add(struct pprof_builder *builder, const char *text) {
  size_t length = text != NULL ? strlen(text) : 0;
  if (length > 0 && !utf8_is_valid(text, length)) {
    builder->text.used = 0;
    char *repaired = (char *)wire_buffer_extend(&builder->text, utf8_repaired_max(length));
    if (repaired == NULL)
      return 0;
    length = utf8_repair(text, length, repaired);
    text = repaired;
  }
  uint32_t index = intern_add(&builder->strings, text, length);
  return index != UINT32_MAX ? (int64_t)index : 0;
}

/* Pyroscope refuses a '-' in the name of a sample type. */
static int64_t type_name_add(struct pprof_builder *builder, const char *name) {
  if (name == NULL || strchr(name, '-') == NULL)
    return string_add(builder, name);
  char *copy = strdup(name);
  if (copy == NULL) {
    builder->failed = true;
    return 0;
  }
  for (char *at = strchr(copy, '-'); at != NULL; at = strchr(at, '-'))
    *at = '_';
  int64_t index = string_add(builder, copy);
  free(copy);
  return index;
}

static void value_type_init(struct pprof_builder *builder, const struct pprof_value_type *from,
                            Perftools__Profiles__ValueType *out) {
  perftools__profiles__value_type__init(out);
  out->type = type_name_add(builder, from->type);
  out->unit = string_add(builder, from->unit);
}

static void header_init(struct pprof_builder *builder, const struct pprof_header *from) {
  Perftools__Profiles__Profile *header = &builder->header;
  for (size_t i = 0; i < from->sample_type_count; i++)
    value_type_init(builder, &from->sample_types[i], &builder->sample_types[i]);
  value_type_init(builder, &from->period_type, &builder->period_type);
  perftools__profiles__profile__init(header);
  header->period_type = &builder->period_type;
  header->period = from->period;
  header->time_nanos = from->time_ns;
  header->duration_nanos = from->duration_ns;
  header->default_sample_type = type_name_add(builder, from->default_sample_type);
  header->doc_url = string_add(builder, from->doc_url);
}

struct pprof_builder *pprof_builder_create(const struct pprof_header *header) {
  assert(header->sample_type_count > 0);
  struct pprof_builder *builder = calloc(1, sizeof(*builder));
  if (builder == NULL)
    return NULL;
  builder->sample_type_count = header->sample_type_count;
  builder->sample_types = calloc(header->sample_type_count, sizeof(*builder->sample_types));
  if (builder->sample_types == NULL) {
    free(builder);
    return NULL;
  }
  string_add(builder, "");
  header_init(builder, header);
  return builder;
}

/* The identifier of the message, whose own field for it is 0. */
static uint64_t message_add(struct pprof_builder *builder, struct intern *intern,
                            const ProtobufCMessage *message) {
  size_t size = protobuf_c_message_get_packed_size(message);
  builder->packed.used = 0;
  uint8_t *place = wire_buffer_extend(&builder->packed, size);
  if (place == NULL)
    return 0;
  protobuf_c_message_pack(message, place);
  uint32_t number = intern_add(intern, place, size);
  return number != UINT32_MAX ? (uint64_t)number + 1 : 0;
}

uint64_t pprof_builder_mapping(struct pprof_builder *builder, const struct pprof_mapping *mapping) {
  Perftools__Profiles__Mapping message = PERFTOOLS__PROFILES__MAPPING__INIT;
  message.memory_start = mapping->start;
  message.memory_limit = mapping->limit;
  message.file_offset = mapping->file_offset;
  message.filename = string_add(builder, mapping->path);
  message.build_id = string_add(builder, mapping->build_id);
  message.has_functions = mapping->has_functions != 0;
  message.has_filenames = mapping->has_filenames != 0;
  message.has_line_numbers = mapping->has_line_numbers != 0;
  message.has_inline_frames = mapping->has_inline_frames != 0;
  return message_add(builder, &builder->mappings, &message.base);
}

static uint64_t function_add(struct pprof_builder *builder, const struct pprof_line *line) {
  Perftools__Profiles__Function message = PERFTOOLS__PROFILES__FUNCTION__INIT;
  message.name = string_add(builder, line->name);
  message.system_name = string_add(builder, line->system_name);
  message.filename = string_add(builder, line->file);
  message.start_line = line->start_line;
  return message_add(builder, &builder->functions, &message.base);
}

/*
 * Fills an array of lines and one of pointers to them, both in builder->pieces; NULL
 * when memory ran out.
 */
static Perftools__Profiles__Line **lines_make(struct pprof_builder *builder,
                                              const struct pprof_line *from, size_t count) {
  Perftools__Profiles__Line *lines;
  Perftools__Profiles__Line **pointers;
  builder->pieces.used = 0;
  void *place = wire_buffer_extend(&builder->pieces, count * (sizeof(*lines) + sizeof(void *)));
  if (place == NULL)
    return NULL;
  lines = place;
  pointers = (Perftools__Profiles__Line **)(void *)(lines + count);
  for (size_t i = 0; i < count; i++) {
    perftools__profiles__line__init(&lines[i]);
    lines[i].function_id = function_add(builder, &from[i]);
    lines[i].line = from[i].line;
    pointers[i] = &lines[i];
  }
  return pointers;
}

uint64_t pprof_builder_location(struct pprof_builder *builder, uint64_t mapping, uint64_t address,
                                const struct pprof_line *lines, size_t line_count) {
  Perftools__Profiles__Location message = PERFTOOLS__PROFILES__LOCATION__INIT;
  message.mapping_id = mapping;
  message.address = address;
  if (line_count > 0) {
    message.line = lines_make(builder, lines, line_count);
    message.n_line = message.line != NULL ? line_count : 0;
  }
  return message_add(builder, &builder->locations, &message.base);
}

static size_t labels_with_value(const struct pprof_label *labels, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    kept += labels[i].text == NULL || *labels[i].text != '\0';
  return kept;
}

static void label_init(struct pprof_builder *builder, const struct pprof_label *from,
                       Perftools__Profiles__Label *out) {
  perftools__profiles__label__init(out);
  out->key = string_add(builder, from->key);
  if (from->text != NULL) {
    out->str = string_add(builder, from->text);
  } else {
    out->num = from->number;
    out->num_unit = string_add(builder, from->unit);
  }
}

/* As lines_make(); labels without a value are left out. */
static Perftools__Profiles__Label **labels_make(struct pprof_builder *builder,
                                                const struct pprof_label *from, size_t count,
                                                size_t kept) {
  Perftools__Profiles__Label *labels;
  Perftools__Profiles__Label **pointers;
  builder->pieces.used = 0;
  void *place = wire_buffer_extend(&builder->pieces, kept * (sizeof(*labels) + sizeof(void *)));
  if (place == NULL)
    return NULL;
  labels = place;
  pointers = (Perftools__Profiles__Label **)(void *)(labels + kept);
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (from[i].text != NULL && *from[i].text == '\0')
      continue;
    label_init(builder, &from[i], &labels[used]);
    pointers[used] = &labels[used];
    used++;
  }
  return pointers;
}

void pprof_builder_sample(struct pprof_builder *builder, const uint64_t *locations,
                          size_t location_count, const int64_t *values,
                          const struct pprof_label *labels, size_t label_count) {
  Perftools__Profiles__Sample message = PERFTOOLS__PROFILES__SAMPLE__INIT;
  size_t kept = labels_with_value(labels, label_count);
  message.n_location_id = location_count;
  message.location_id = (uint64_t *)(uintptr_t)locations; /* only read */
  message.n_value = builder->sample_type_count;
  message.value = (int64_t *)(uintptr_t)values;
  if (kept > 0) {
    message.label = labels_make(builder, labels, label_count, kept);
    message.n_label = message.label != NULL ? kept : 0;
  }
  wire_buffer_message(&builder->samples, FIELD_SAMPLE, &message.base);
}

void pprof_builder_comment(struct pprof_builder *builder, const char *text) {
  int64_t index = string_add(builder, text);
  void *place = wire_buffer_extend(&builder->comments, sizeof(index));
  if (place != NULL)
    memcpy(place, &index, sizeof(index));
}

/* Writes interned messages as fields of Profile. */
static void write_messages(const struct intern *intern, uint32_t field,
                           struct gzip_writer *writer) {
  for (uint32_t i = 0; i < intern->count; i++) {
    uint8_t id[1 + WIRE_VARINT_MAX] = {ID_TAG};
    uint8_t head[2 * WIRE_VARINT_MAX];
    size_t size;
    const uint8_t *bytes = intern_at(intern, i, &size);
    size_t id_size = 1 + wire_put_varint((uint64_t)i + 1, id + 1);
    gzip_writer_add(writer, head, wire_put_bytes_head(field, id_size + size, head));
    gzip_writer_add(writer, id, id_size);
    gzip_writer_add(writer, bytes, size);
  }
}

static void write_strings(const struct intern *strings, struct gzip_writer *writer) {
  for (uint32_t i = 0; i < strings->count; i++) {
    uint8_t head[2 * WIRE_VARINT_MAX];
    size_t size;
    const uint8_t *bytes = intern_at(strings, i, &size);
    gzip_writer_add(writer, head, wire_put_bytes_head(FIELD_STRING_TABLE, size, head));
    gzip_writer_add(writer, bytes, size);
  }
}

/* Writes a Profile message that holds some of the fields; the parts of a message add up. */
static void write_part(struct pprof_builder *builder, const Perftools__Profiles__Profile *part,
                       struct gzip_writer *writer) {
  size_t size = perftools__profiles__profile__get_packed_size(part);
  builder->packed.used = 0;
  uint8_t *place = wire_buffer_extend(&builder->packed, size);
  if (place == NULL)
    return;
  perftools__profiles__profile__pack(part, place);
  gzip_writer_add(writer, place, size);
}

static void write_sample_types(struct pprof_builder *builder, struct gzip_writer *writer) {
  for (size_t i = 0; i < builder->sample_type_count; i++) {
    Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
    Perftools__Profiles__ValueType *type = &builder->sample_types[i];
    part.n_sample_type = 1;
    part.sample_type = &type;
    write_part(builder, &part, writer);
  }
}

/* In the order of the field numbers. */
static void write_profile(struct pprof_builder *builder, struct gzip_writer *writer) {
  write_sample_types(builder, writer);
  gzip_writer_add(writer, builder->samples.bytes, builder->samples.used);
  write_messages(&builder->mappings, FIELD_MAPPING, writer);
  write_messages(&builder->locations, FIELD_LOCATION, writer);
  write_messages(&builder->functions, FIELD_FUNCTION, writer);
  write_strings(&builder->strings, writer);
  builder->header.n_comment = builder->comments.used / sizeof(int64_t);
  builder->header.comment = (int64_t *)(void *)builder->comments.bytes;
  write_part(builder, &builder->header, writer);
}

static bool has_failed(const struct pprof_builder *builder) {
  return builder->failed || builder->strings.failed || builder->mappings.failed ||
         builder->locations.failed || builder->functions.failed || builder->samples.failed ||
         builder->packed.failed || builder->text.failed || builder->pieces.failed ||
         builder->comments.failed;
}

int pprof_builder_finish(struct pprof_builder *builder, void **out, size_t *out_size) {
  struct gzip_writer writer;
  void *bytes;
  size_t size;
  gzip_writer_init(&writer);
  if (!has_failed(builder))
    write_profile(builder, &writer);
  int result = gzip_writer_finish(&writer, &bytes, &size);
  if (result == 0 && has_failed(builder)) {
    free(bytes);
    result = -1;
  }
  pprof_builder_discard(builder);
  if (result != 0)
    return -1;
  *out = bytes;
  *out_size = size;
  return 0;
}

void pprof_builder_discard(struct pprof_builder *builder) {
  if (builder == NULL)
    return;
  intern_fini(&builder->strings);
  intern_fini(&builder->mappings);
  intern_fini(&builder->locations);
  intern_fini(&builder->functions);
  wire_buffer_fini(&builder->samples);
  wire_buffer_fini(&builder->packed);
  wire_buffer_fini(&builder->text);
  wire_buffer_fini(&builder->pieces);
  wire_buffer_fini(&builder->comments);
  free(builder->sample_types);
  free(builder);
}
