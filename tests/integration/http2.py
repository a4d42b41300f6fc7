"""Enough of HTTP/2 and HPACK (RFC 9113, RFC 7541) to speak gRPC by hand, well or badly."""

DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1

INITIAL_WINDOW_SIZE = 4  # a setting
INTERNAL_ERROR, CANCEL = 2, 8  # error codes

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_HEAD_BYTES = 9


def frame(kind, flags, stream, payload=b""):
    """One frame (RFC 9113, section 4.1)."""
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def literal(name, value):
    """A header field without indexing (RFC 7541, section 6.2.2), lengths under 127."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def setting(name, value):
    return frame(SETTINGS, 0, 0, name.to_bytes(2, "big") + value.to_bytes(4, "big"))


def number(value):
    return value.to_bytes(4, "big")
