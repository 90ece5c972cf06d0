"""Parts of files that the builders of hostile files share: writing, and fields of protocol buffers."""


def written(path, data):
    path.write_bytes(data)
    return path


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data
