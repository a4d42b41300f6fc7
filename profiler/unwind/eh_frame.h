#ifndef UNWIND_EH_FRAME_H
#define UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"

/*
 * The entries of an .eh_frame section, from a copy of its bytes.
 * Format: Linux Standard Base Core 5.0, chapter 10.6; the programs in it: DWARF 5, 6.4.
 */
struct eh_frame {
  const unsigned char *bytes;
  size_t size;         /* at least to the section's end; what follows it may be anything */
  uintptr_t address;   /* of the section in the object's memory */
  uint64_t max_frames; /* how many FDEs it has, where .eh_frame_hdr tells; else UINT64_MAX */
};

/* A common information entry: what the frames of one object file share. */
struct cie {
  uint64_t code_align;
  int64_t data_align;
  uint64_t return_register;
  uint8_t pointer_encoding;
  bool has_augmentation; /* FDEs carry augmentation data behind their length */
  bool is_signal;        /* its code returns from a signal handler */
  struct cursor program;
};

/* A frame description entry: one function, or a part of one. */
struct fde {
  uintptr_t start; /* of the code, [start, end) */
  uintptr_t end;
  size_t cie_offset;
  struct cursor program;
};

/* Where the next entry begins; {0, 0} at first. */
struct eh_frame_position {
  size_t offset;
  uint64_t frames; /* FDEs that lie before it */
};

/* The next FDE that can be read; false at the end, or where the section makes no sense. */
bool eh_frame_next(const struct eh_frame *frames, struct eh_frame_position *position,
                   struct fde *out);

/* The CIE at `offset`; false when there is none that we understand. */
bool eh_frame_cie(const struct eh_frame *frames, size_t offset, struct cie *out);

#endif
