#ifndef RPC_WIRE_H
#define RPC_WIRE_H

#include <stddef.h>

#include <grpc/grpc.h>

/* A message as the core sends it, made of a copy of `bytes`; owned. */
grpc_byte_buffer *wire_pack(const void *bytes, size_t length);

/*
 * The bytes of a received message in one piece. Returns 0 and sets *out to a
 * slice that the caller unrefs, or -1 when the message cannot be read, such as
 * one whose compressed form is damaged.
 */
int wire_unpack(grpc_byte_buffer *buffer, grpc_slice *out);

#endif
