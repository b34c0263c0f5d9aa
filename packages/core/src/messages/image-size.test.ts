import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageSize } from "./image-size.js";

const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const u16 = (value: number) => String.fromCharCode(value >> 8, value & 255);
const le16 = (value: number) => String.fromCharCode(value & 255, value >> 8);
const le24 = (value: number) => String.fromCharCode(value & 255, (value >> 8) & 255, value >> 16);

const png = `\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0${u16(640)}\0\0${u16(480)}\x08\x02\0\0\0`;
const gif = `GIF89a${le16(640)}${le16(480)}\0\0\0`;
const exif = `\xff\xe1${u16(40_002)}${"x".repeat(40_000)}`;
const jpeg = `\xff\xd8${exif}\xff\xdb${u16(4)}ab\xff\xff\xc2${u16(17)}\x08${u16(480)}${u16(640)}\x03`;
const riff = (chunk: string) => `RIFF\0\0\0\0WEBP${chunk}`;
const lossy = riff(`VP8 \0\0\0\0\0\0\0\x9d\x01\x2a${le16(640)}${le16(480)}`);
const bits = (640 - 1) | ((480 - 1) << 14);
const lossless = riff(`VP8L\0\0\0\0\x2f${le16(bits & 0xffff)}${le16(bits >>> 16)}`);
const extended = riff(`VP8X\0\0\0\0\0\0\0\0${le24(640 - 1)}${le24(480 - 1)}`);

describe("the size of an image", () => {
  it.each(Object.entries({ png, gif, jpeg, lossy, lossless, extended }))(
    "is read from its header: %s",
    (_, text) => {
      expect(imageSize(latin1(text))).toEqual({ width: 640, height: 480 });
      // The offset of the bytes in their buffer makes no difference.
      expect(imageSize(latin1(`xx${text}`).subarray(2))).toEqual({ width: 640, height: 480 });
    },
  );

  it("is unknown for a header that is cut anywhere", () => {
    for (const text of [png, gif, lossy, lossless, extended, jpeg]) {
      const bytes = latin1(text);
      for (let end = 0; end < 24; end += 1) {
        const size = imageSize(bytes.subarray(0, end));
        expect(size === undefined || (size.width === 640 && size.height === 480)).toBe(true);
      }
    }
    expect(imageSize(latin1(jpeg).subarray(0, 40_000))).toBeUndefined();
  });

  it("is unknown for an image without an area, and for other formats", () => {
    expect(imageSize(latin1(`GIF89a${le16(0)}${le16(480)}`))).toBeUndefined();
    expect(imageSize(latin1("BM and more than enough bytes of something else"))).toBeUndefined();
    expect(imageSize(latin1("\xff\xd8\xff\xd9"))).toBeUndefined();
    // A segment of length zero would be read forever.
    expect(imageSize(latin1(`\xff\xd8\xff\xe1${u16(0)}${"\0".repeat(100)}`))).toBeUndefined();
  });

  it("is found or not for any bytes, and never fails", () => {
    const start = fc.constantFrom("", "\xff\xd8\xff", "RIFF0000WEBPVP8", "GIF8", "\x89PNG\r\n\x1a\n");
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 80 }), (prefix, rest) => {
        const size = imageSize(Uint8Array.from([...latin1(prefix), ...rest]));
        if (size !== undefined) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
      }),
    );
  });
});
