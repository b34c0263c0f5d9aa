import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readImageSize } from "./image-size.js";

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));

const png = "89504e470d0a1a0a 0000000d 49484452 00000280 000001e0 0802000000";
const gif = "474946383961 8002 e001 f70000";
const jpegStart = "ffd8 ffe0 0010 4a46494600010100000100010000";
const frame = "ffc2 0011 08 01e0 0280 03 01220002110103110100000000";
const webp = (kind: string, rest: string) => `52494646 00000000 57454250 ${kind} 00000000 ${rest}`;

describe("the size of an image", () => {
  it.each([
    ["a PNG", png],
    ["a GIF", gif],
    ["a JPEG", jpegStart + frame],
    ["a JPEG with filling bytes", `${jpegStart}ffff${frame.slice(2)}`],
    ["a JPEG with a table before its frame", `${jpegStart}ffc4 0004 0000${frame}`],
    ["a lossy WebP", webp("56503820", "000000 9d012a 8002 e001 0000")],
    [
      "a lossless WebP",
      webp("5650384c", `2f ${Buffer.from([0x7f, 0xc2, 0x77, 0x00]).toString("hex")} 0000000000`),
    ],
    ["an extended WebP", webp("56503858", "00000000 7f0200 df0100")],
  ])("%s has 640 by 480 pixels", (_, hex) => {
    expect(readImageSize(bytesOf(hex))).toEqual({ width: 640, height: 480 });
  });

  it.each([
    ["nothing", ""],
    ["text", Buffer.from("Hello, world, this is no image at all").toString("hex")],
    ["half a PNG", png.slice(0, 40)],
    ["a PNG of no size", png.replace("00000280", "00000000")],
    ["a JPEG that ends before its frame", jpegStart],
    ["a JPEG whose segments are broken", `${jpegStart}00112233445566778899aabbcc`],
  ])("of %s is unknown", (_, hex) => {
    expect(readImageSize(bytesOf(hex))).toBeUndefined();
  });

  it("is read from any bytes without failing", () => {
    const starts = [png, gif, jpegStart, webp("56503858", ""), webp("5650384c", "")].map(bytesOf);
    fc.assert(
      fc.property(
        fc.constantFrom(...starts),
        fc.uint8Array({ maxLength: 200 }),
        fc.nat(40),
        (start, rest, cut) => {
          const size = readImageSize(Buffer.concat([start.subarray(0, cut), rest]));
          if (size !== undefined) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
        },
      ),
    );
  });
});
