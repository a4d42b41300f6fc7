#ifndef PPROF_WIRE_H
#define PPROF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/*
 * The protobuf wire format, as far as a profile's own fields need it; what is inside
 * them is protobuf-c's affair.
 * Source: https://protobuf.dev/programming-guides/encoding/
 */

enum wire_type {
  WIRE_VARINT = 0,
  WIRE_FIXED64 = 1,
  WIRE_BYTES = 2,
  WIRE_FIXED32 = 5,
};

/* The most bytes of a varint. */
#define WIRE_VARINT_MAX 10

/* Writes a varint and returns its length. */
size_t wire_put_varint(uint64_t value, uint8_t out[WIRE_VARINT_MAX]);

/* Writes the tag and the length of a field of bytes, and returns how long both are. */
size_t wire_put_bytes_head(uint32_t field, size_t size, uint8_t out[2 * WIRE_VARINT_MAX]);

/* Bytes that grow at the end. A failed allocation is remembered in `failed`. */
struct wire_buffer {
  uint8_t *bytes;
  size_t used, max;
  bool failed;
};

void wire_buffer_fini(struct wire_buffer *buffer);

/* The place of the next `size` bytes, which count as used; NULL when memory ran out. */
uint8_t *wire_buffer_extend(struct wire_buffer *buffer, size_t size);

/* Appends the message as a field. */
void wire_buffer_message(struct wire_buffer *buffer, uint32_t field,
                         const ProtobufCMessage *message);

/* One field of a message; bytes are borrowed from the message. */
struct wire_field {
  uint32_t number;
  enum wire_type type;
  uint64_t value;       /* of the numeric types */
  const uint8_t *bytes; /* of WIRE_BYTES */
  size_t size;
};

enum wire_step {
  WIRE_FIELD, /* *out is set */
  WIRE_END,
  WIRE_DAMAGED, /* cut, or not the wire format */
};

/* Reads the field at *at, which lies before `end`, and moves behind it. */
enum wire_step wire_next(const uint8_t **at, const uint8_t *end, struct wire_field *out);

#endif
