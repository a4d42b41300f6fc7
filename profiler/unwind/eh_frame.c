#include "eh_frame.h"

#include <string.h>

/* One entry, still without a meaning: what lies behind its identifier. */
struct entry {
  size_t id_offset;
  uint32_t id; /* 0: a CIE; else how far back from `id_offset` the CIE begins */
  struct cursor body;
  size_t next_offset;
};

static bool entry_read(const struct eh_frame *frames, size_t offset, struct entry *out) {
  if (offset > frames->size)
    return false;
  struct cursor at = {.begin = frames->bytes,
                      .at = frames->bytes + offset,
                      .end = frames->bytes + frames->size,
                      .address = frames->address};
  uint64_t length = cursor_number(&at, 4);
  if (length == UINT32_MAX)
    length = cursor_number(&at, 8);
  out->id_offset = (size_t)(at.at - at.begin);
  out->body = cursor_part(&at, length);
  out->id = (uint32_t)cursor_number(&out->body, 4);
  out->next_offset = (size_t)(at.at - at.begin);
  return length != 0 && !out->body.failed;
}

/* Reads the data that the letters behind 'z' announce; false for a letter we do not know. */
static bool augmentation_read(const char *letters, struct cursor *data, struct cie *cie) {
  for (const char *letter = letters; *letter != '\0'; letter++) {
    switch (*letter) {
    case 'R':
      cie->pointer_encoding = cursor_byte(data);
      break;
    case 'P':
      cursor_plain(data, cursor_byte(data));
      break;
    case 'L':
      cursor_byte(data);
      break;
    case 'S':
      cie->is_signal = true;
      break;
    default:
      return false;
    }
  }
  return !data->failed;
}

bool eh_frame_cie(const struct eh_frame *frames, size_t offset, struct cie *out) {
  struct entry entry;
  if (!entry_read(frames, offset, &entry) || entry.id != 0)
    return false;

  struct cursor *body = &entry.body;
  uint64_t version = cursor_byte(body);
  const char *letters = (const char *)body->at;
  size_t room = (size_t)(body->end - body->at);
  size_t letter_count = strnlen(letters, room);
  cursor_part(body, (uint64_t)letter_count + 1);
  if (body->failed || (version != 1 && version != 3))
    return false;

  struct cie cie = {.code_align = cursor_uleb(body)};
  cie.data_align = cursor_sleb(body);
  cie.return_register = version == 1 ? cursor_byte(body) : cursor_uleb(body);
  if (letters[0] == 'z') {
    cie.has_augmentation = true;
    struct cursor data = cursor_part(body, cursor_uleb(body));
    if (!augmentation_read(letters + 1, &data, &cie))
      return false;
  } else if (letters[0] != '\0') {
    return false;
  }
  cie.program = *body;
  *out = cie;
  return !body->failed;
}

static bool fde_read(const struct eh_frame *frames, const struct entry *entry, struct fde *out) {
  struct fde fde = {.cie_offset = entry->id_offset - entry->id};
  struct cie cie;
  if (!eh_frame_cie(frames, fde.cie_offset, &cie))
    return false;

  struct cursor body = entry->body;
  fde.start = cursor_pointer(&body, cie.pointer_encoding, 0);
  uintptr_t size = (uintptr_t)cursor_plain(&body, cie.pointer_encoding);
  if (cie.has_augmentation)
    cursor_part(&body, cursor_uleb(&body));
  if (body.failed || size > UINTPTR_MAX - fde.start)
    return false;
  fde.end = fde.start + size;
  fde.program = body;
  *out = fde;
  return true;
}

bool eh_frame_next(const struct eh_frame *frames, struct eh_frame_position *position,
                   struct fde *out) {
  struct entry entry;
  while (position->frames < frames->max_frames && entry_read(frames, position->offset, &entry)) {
    position->offset = entry.next_offset;
    if (entry.id == 0)
      continue;
    position->frames++;
    if (fde_read(frames, &entry, out))
      return true;
  }
  return false;
}
