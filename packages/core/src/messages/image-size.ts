/** Width and height of an image, in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of a PNG, JPEG, GIF or WebP image from its first bytes, without decoding it. Undefined for anything
 * else, and where the size stands behind the bytes that are given: that of a JPEG follows its metadata, which a first
 * piece of a file has room for in practice.
 */
export function readImageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = readers.find(({ isOf }) => isOf(view));
  const size = read?.sizeOf(view);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

interface Reader {
  isOf(view: DataView): boolean;
  sizeOf(view: DataView): ImageSize | undefined;
}

const readers: readonly Reader[] = [
  {
    isOf: (view) => textAt(view, 1, "PNG\r\n"),
    sizeOf: (view) =>
      view.byteLength < 24 || !textAt(view, 12, "IHDR")
        ? undefined
        : { width: view.getUint32(16), height: view.getUint32(20) },
  },
  {
    isOf: (view) => textAt(view, 0, "GIF8"),
    sizeOf: (view) =>
      view.byteLength < 10 ? undefined : { width: view.getUint16(6, true), height: view.getUint16(8, true) },
  },
  { isOf: (view) => textAt(view, 0, "RIFF") && textAt(view, 8, "WEBP"), sizeOf: webpSize },
  { isOf: (view) => view.byteLength > 3 && view.getUint16(0) === 0xffd8, sizeOf: jpegSize },
];

function textAt(view: DataView, offset: number, text: string): boolean {
  if (view.byteLength < offset + text.length) return false;
  for (let index = 0; index < text.length; index += 1) {
    if (view.getUint8(offset + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}

function webpSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30) return undefined;
  const uint24 = (offset: number) => view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16);
  if (textAt(view, 12, "VP8X")) return { width: uint24(24) + 1, height: uint24(27) + 1 };
  if (textAt(view, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!textAt(view, 12, "VP8 ")) return undefined;
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

/** Walks over the segments to the one that begins a frame. */
function jpegSize(view: DataView): ImageSize | undefined {
  for (let offset = 2; offset + 9 < view.byteLength; ) {
    if (view.getUint8(offset) !== 0xff) return undefined;
    const marker = view.getUint8(offset + 1);
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    const beginsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (beginsFrame) return { width: view.getUint16(offset + 7), height: view.getUint16(offset + 5) };
    offset += 2 + view.getUint16(offset + 2);
  }
  return undefined;
}
