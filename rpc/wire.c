#include "wire.h"

#include <grpc/byte_buffer_reader.h>

grpc_byte_buffer *wire_pack(const void *bytes, size_t length) {
  grpc_slice slice = grpc_slice_from_copied_buffer(bytes, length);
  grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  return buffer;
}

int wire_unpack(grpc_byte_buffer *buffer, grpc_slice *out) {
  grpc_byte_buffer_reader reader;
  if (!grpc_byte_buffer_reader_init(&reader, buffer))
    return -1;
  *out = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  return 0;
}
