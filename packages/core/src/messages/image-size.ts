/** Width and height of an image, in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Reads the size of a PNG, JPEG, GIF or WebP image from its first bytes. Nothing is decoded, and nothing is read
 * beyond the bytes. Undefined for any other format, for a header that is cut or broken, and for an image without an
 * area.
 */
export function imageSize(head: Uint8Array): ImageSize | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  try {
    const size = pngSize(view) ?? gifSize(view) ?? webpSize(view) ?? jpegSize(view);
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // A header that ends too early.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function pngSize(view: DataView): ImageSize | undefined {
  if (!hasText(view, 1, "PNG\r\n") || !hasText(view, 12, "IHDR")) return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

function gifSize(view: DataView): ImageSize | undefined {
  if (!hasText(view, 0, "GIF8")) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function webpSize(view: DataView): ImageSize | undefined {
  if (!hasText(view, 0, "RIFF") || !hasText(view, 8, "WEBP")) return undefined;
  if (hasText(view, 12, "VP8 ")) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  if (hasText(view, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!hasText(view, 12, "VP8X")) return undefined;
  return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
}

/** Walks the segments of a JPEG to the one that begins the image. */
function jpegSize(view: DataView): ImageSize | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // Markers without a length: restarts and the like.
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2;
      continue;
    }
    if (startsFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // The image's data, or its end, without a frame.
    if (marker === 0xda || marker === 0xd9) return undefined;
    const length = view.getUint16(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
  }
}

/** Returns true for SOF0 to SOF15, without the tables and the reserved marker among them. */
function startsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function uint24(view: DataView, at: number): number {
  return view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
}

function hasText(view: DataView, at: number, text: string): boolean {
  if (at + text.length > view.byteLength) return false;
  for (let index = 0; index < text.length; index += 1) {
    if (view.getUint8(at + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}
