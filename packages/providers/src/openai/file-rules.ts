import type { FileRules, PixelSize } from "../call/file-rules.js";

const megabyte = 2 ** 20;

/** OpenAI's models that only read text. */
const textOnly = /^(?:gpt-3\.5|gpt-4$|gpt-4-(?:0|32k)|o1-mini|o1-preview|o3-mini)/;

/** A price for each tile of 512 pixels, or a factor for each patch of 32 pixels. */
type ImagePrice = { readonly base: number; readonly tile: number } | { readonly factor: number };

/** By the start of a model's name; the first match wins. */
const imagePrices: readonly (readonly [model: RegExp, price: ImagePrice])[] = [
  [/^gpt-4o-mini/, { base: 2_833, tile: 5_667 }],
  [/^(?:gpt-4\.1|gpt-5(?:\.\d+)?)-mini/, { factor: 1.62 }],
  [/^(?:gpt-4\.1|gpt-5(?:\.\d+)?)-nano/, { factor: 2.46 }],
  [/^o4-mini/, { factor: 1.72 }],
  [/^o[13]/, { base: 75, tile: 150 }],
  [/^gpt-5/, { base: 70, tile: 140 }],
];
const ordinaryPrice: ImagePrice = { base: 85, tile: 170 };

const patch = 32;
const mostPatches = 1_536;
const largest: PixelSize = { width: 2_048, height: 2_048 };

/** Returns the limits of OpenAI's models. Their documentation allows 50 MB of files in a request. */
export function openAIFileRules(model: string): FileRules {
  return {
    ...(textOnly.test(model)
      ? {}
      : { images: { maxBytes: 20 * megabyte, tokens: (size) => openAIImageTokens(model, size) } }),
    documents: { maxBytes: 32 * megabyte },
  };
}

/**
 * Returns the tokens of an image by OpenAI's rule for a model. An image of unknown size counts as a large
 * one.
 */
export function openAIImageTokens(model: string, size: PixelSize = largest): number {
  const price = imagePrices.find(([name]) => name.test(model))?.[1] ?? ordinaryPrice;
  if ("factor" in price) return Math.ceil(patchesOf(size) * price.factor);
  return price.base + price.tile * tilesOf(size);
}

/**
 * Returns the number of tiles of 512 pixels, after scaling the image to fit 2,048 pixels and its shorter side
 * 768.
 */
function tilesOf({ width, height }: PixelSize): number {
  const fit = Math.min(1, largest.width / Math.max(width, height));
  const shrink = fit * Math.min(1, 768 / (Math.min(width, height) * fit));
  return Math.ceil((width * shrink) / 512) * Math.ceil((height * shrink) / 512);
}

/** Returns the number of patches of 32 pixels, at most 1,536: a larger image is scaled down. */
function patchesOf({ width, height }: PixelSize): number {
  return Math.min(mostPatches, Math.ceil(width / patch) * Math.ceil(height / patch));
}
