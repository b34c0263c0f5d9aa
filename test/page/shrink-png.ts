import { crc32, deflateSync, inflateSync } from "node:zlib";

/**
 * Returns the same picture in fewer bytes: with a palette of 256 colors. A page has few of its own, which stay as they
 * are; the many shades at the edges of letters are mapped to the nearest one.
 */
export function shrinkPng(png: Uint8Array): Uint8Array {
  const { width, height, bytesPerPixel, pixels } = decode(Buffer.from(png));
  const colours = new Uint32Array(width * height);
  const counts = new Map<number, number>();
  for (let at = 0; at < colours.length; at += 1) {
    const from = at * bytesPerPixel;
    const colour = pixels.readUIntBE(from, 3);
    colours[at] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = choosePalette(counts);
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(colour, palette)]));
  const lines = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < colours.length; at += 1) {
    lines[at + Math.floor(at / width) + 1] = places.get(colours[at] ?? 0) ?? 0;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const listed = Buffer.from(palette.flatMap((colour) => channels(colour)));
  const packed = deflateSync(lines, { level: 9, memLevel: 9 });
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("PLTE", listed),
    chunk("IDAT", packed),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns the most frequent colors, and of the rest the most frequent one of each region. */
function choosePalette(counts: ReadonlyMap<number, number>): number[] {
  const byCount = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
  const palette = byCount.slice(0, 128);
  const regions = new Set(palette.map(regionOf));
  for (const colour of byCount.slice(128)) {
    if (palette.length === 256) break;
    if (regions.has(regionOf(colour))) continue;
    regions.add(regionOf(colour));
    palette.push(colour);
  }
  return palette;
}

const channels = (colour: number): [number, number, number] => [
  colour >> 16,
  (colour >> 8) & 0xff,
  colour & 0xff,
];
const regionOf = (colour: number) =>
  channels(colour).reduce((region, value) => region * 11 + Math.floor(value / 24), 0);

function nearest(colour: number, palette: readonly number[]): number {
  const wanted = channels(colour);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  palette.forEach((candidate, place) => {
    const distance = channels(candidate).reduce(
      (sum, value, part) => sum + (value - (wanted[part] ?? 0)) ** 2,
      0,
    );
    if (distance < least) [best, least] = [place, distance];
  });
  return best;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly bytesPerPixel: number;
  readonly pixels: Buffer;
}

/** Reads the format that browsers write: 8 bits a channel, true color, not interlaced. */
function decode(png: Buffer): Decoded {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  if (png[24] !== 8 || (png[25] !== 2 && png[25] !== 6) || png[28] !== 0)
    throw new Error("not a picture of a browser");
  const bytesPerPixel = png[25] === 6 ? 4 : 3;
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const lines = inflateSync(Buffer.concat(data));
  const stride = width * bytesPerPixel;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = lines[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const left = x >= bytesPerPixel ? (pixels[y * stride + x - bytesPerPixel] ?? 0) : 0;
      const above = y > 0 ? (pixels[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= bytesPerPixel && y > 0 ? (pixels[(y - 1) * stride + x - bytesPerPixel] ?? 0) : 0;
      pixels[y * stride + x] =
        ((lines[y * (stride + 1) + 1 + x] ?? 0) + predicted(filter, left, above, corner)) & 0xff;
    }
  }
  return { width, height, bytesPerPixel, pixels };
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const guess = left + above - corner;
  const [toLeft, toAbove, toCorner] = [
    Math.abs(guess - left),
    Math.abs(guess - above),
    Math.abs(guess - corner),
  ];
  return toLeft <= toAbove && toLeft <= toCorner ? left : toAbove <= toCorner ? above : corner;
}
