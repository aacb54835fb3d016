"""Reading a PNG without a library."""
import struct
import zlib


def read_png(path):
    """Width, height and rows of (r, g, b) bytes of an 8-bit RGB or RGBA file."""
    data, at, packed = path.read_bytes(), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and color in (2, 6)
            step = 3 if color == 2 else 4
        packed += body if kind == b"IDAT" else b""
        at += size + 12
    raw, rows, above, length = zlib.decompress(packed), [], bytearray(step * width), step * width
    for y in range(height):
        filtering, row = raw[y * (length + 1)], bytearray(raw[y * (length + 1) + 1:(y + 1) * (length + 1)])
        for i in range(length):
            a, b, c = (row[i - step] if i >= step else 0), above[i], (above[i - step] if i >= step else 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + [0, a, b, (a + b) // 2, paeth][filtering]) & 255
        rows.append(bytearray(x for i, x in enumerate(row) if i % step < 3))
        above = row
    return width, height, rows
