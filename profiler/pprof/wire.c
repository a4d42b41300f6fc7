#include "wire.h"

#include <stdlib.h>
#include <string.h>

#define TYPE_BITS 3
#define MAX_FIELD_NUMBER ((UINT32_C(1) << 29) - 1)

size_t wire_put_varint(uint64_t value, uint8_t out[WIRE_VARINT_MAX]) {
  size_t length = 0;
  while (value >= 0x80) {
    out[length++] = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  out[length++] = (uint8_t)value;
  return length;
}

size_t wire_put_bytes_head(uint32_t field, size_t size, uint8_t out[2 * WIRE_VARINT_MAX]) {
  size_t length = wire_put_varint((uint64_t)field << TYPE_BITS | WIRE_BYTES, out);
  return length + wire_put_varint(size, out + length);
}

void wire_buffer_fini(struct wire_buffer *buffer) {
  free(buffer->bytes);
  *buffer = (struct wire_buffer){0};
}

uint8_t *wire_buffer_extend(struct wire_buffer *buffer, size_t size) {
  if (size > buffer->max - buffer->used) {
    size_t grown = buffer->max < 512 ? 1024 : buffer->max * 2;
    if (grown - buffer->used < size)
      grown = buffer->used + size;
    uint8_t *moved = realloc(buffer->bytes, grown);
    if (moved == NULL) {
      buffer->failed = true;
      return NULL;
    }
    buffer->bytes = moved;
    buffer->max = grown;
  }
  uint8_t *place = buffer->bytes + buffer->used;
  buffer->used += size;
  return place;
}

void wire_buffer_message(struct wire_buffer *buffer, uint32_t field,
                         const ProtobufCMessage *message) {
  uint8_t head[2 * WIRE_VARINT_MAX];
  size_t size = protobuf_c_message_get_packed_size(message);
  size_t head_size = wire_put_bytes_head(field, size, head);
  uint8_t *place = wire_buffer_extend(buffer, head_size + size);
  if (place == NULL)
    return;
  memcpy(place, head, head_size);
  protobuf_c_message_pack(message, place + head_size);
}

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    uint8_t byte = *(*at)++;
    value |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) {
      *out = value;
      return shift < 63 || byte <= 1;
    }
  }
  return false;
}

/* Reads a little-endian number of `size` bytes. */
static bool read_fixed(const uint8_t **at, const uint8_t *end, size_t size, uint64_t *out) {
  if ((size_t)(end - *at) < size)
    return false;
  *out = 0;
  for (size_t i = 0; i < size; i++)
    *out |= (uint64_t)(*at)[i] << (8 * i);
  *at += size;
  return true;
}

static bool read_bytes(const uint8_t **at, const uint8_t *end, struct wire_field *out) {
  uint64_t size;
  if (!read_varint(at, end, &size) || size > (uint64_t)(end - *at))
    return false;
  out->bytes = *at;
  out->size = (size_t)size;
  *at += size;
  return true;
}

static bool read_content(const uint8_t **at, const uint8_t *end, struct wire_field *out) {
  switch (out->type) {
  case WIRE_VARINT:
    return read_varint(at, end, &out->value);
  case WIRE_FIXED64:
    return read_fixed(at, end, 8, &out->value);
  case WIRE_BYTES:
    return read_bytes(at, end, out);
  case WIRE_FIXED32:
    return read_fixed(at, end, 4, &out->value);
  }
  return false;
}

enum wire_step wire_next(const uint8_t **at, const uint8_t *end, struct wire_field *out) {
  uint64_t tag;
  if (*at == end)
    return WIRE_END;
  if (!read_varint(at, end, &tag) || tag >> TYPE_BITS == 0 || tag >> TYPE_BITS > MAX_FIELD_NUMBER)
    return WIRE_DAMAGED;
  *out = (struct wire_field){
      .number = (uint32_t)(tag >> TYPE_BITS),
      .type = (enum wire_type)(tag & 7),
  };
  return read_content(at, end, out) ? WIRE_FIELD : WIRE_DAMAGED;
}
