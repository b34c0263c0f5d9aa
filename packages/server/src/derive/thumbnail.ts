import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { imageSize } from "@parley/core/messages";
import type { DeriveLimits } from "./derive-limits.js";

/** Pixels in the format of the decoders: four bytes each, red, green, blue and alpha. */
interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** The pixel class that the codecs need, which Node does not have. */
class NodeImageData implements Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;

  constructor(data: Uint8ClampedArray, width: number, height = data.length / 4 / width) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}

const require = createRequire(import.meta.url);

async function loadWasm(name: string): Promise<WebAssembly.Module> {
  return new WebAssembly.Module(await readFile(require.resolve(name)));
}

type Decode = (bytes: ArrayBuffer) => Promise<Pixels | null>;

/** Decoders in WebAssembly: the effects of a broken image stay in their own memory. Each is loaded when needed. */
const decoders: Readonly<Record<string, () => Promise<Decode>>> = {
  "image/jpeg": async () => {
    const { default: decode, init } = await import("@jsquash/jpeg/decode.js");
    await init(await loadWasm("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"));
    // Photos are stored as the camera was held, with an orientation mark.
    return (bytes) => decode(bytes, { preserveOrientation: true });
  },
  "image/png": async () => {
    const { decode, init } = await import("@jsquash/png/decode.js");
    await init(await loadWasm("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"));
    return (bytes) => decode(bytes);
  },
  "image/webp": async () => {
    const { default: decode, init } = await import("@jsquash/webp/decode.js");
    await init(await loadWasm("@jsquash/webp/codec/dec/webp_dec.wasm"));
    return (bytes) => decode(bytes);
  },
};

/** Types of which thumbnails are made. */
export const thumbnailTypes: readonly string[] = Object.keys(decoders);

/** Makes a small WebP of an image; undefined if it cannot be decoded, or exceeds the limit. */
export async function makeThumbnail(
  mediaType: string,
  bytes: Uint8Array,
  limits: DeriveLimits,
): Promise<Uint8Array | undefined> {
  const declared = imageSize(bytes);
  if (declared === undefined || declared.width * declared.height > limits.pixels) return undefined;
  Object.assign(globalThis, { ImageData: NodeImageData });
  const decode = await decoders[mediaType]?.();
  const image = await decode?.(Uint8Array.from(bytes).buffer);
  if (image === undefined || image === null || !(image.width > 0 && image.height > 0)) return undefined;
  const small = await shrink(image, limits.thumbnailSide);
  const { default: encode, init } = await import("@jsquash/webp/encode.js");
  await init(await loadWasm("@jsquash/webp/codec/enc/webp_enc.wasm"));
  return new Uint8Array(await encode(small as ImageData, { quality: 80 }));
}

/** Scales an image down so that its longer side has `side` pixels. A smaller one stays as it is. */
async function shrink(image: Pixels, side: number): Promise<Pixels> {
  const scale = side / Math.max(image.width, image.height);
  if (scale >= 1) return image;
  const { default: resize, initResize } = await import("@jsquash/resize");
  await initResize(await loadWasm("@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm"));
  return resize(image as ImageData, {
    width: Math.max(1, Math.round(image.width * scale)),
    height: Math.max(1, Math.round(image.height * scale)),
    method: "triangle",
    linearRGB: false,
    premultiply: true,
  });
}
