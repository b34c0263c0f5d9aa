import type { FileRules, PixelSize } from "../../call/file-rules.js";

const megabyte = 2 ** 20;

/**
 * An image is scaled down until its longer side has at most this many pixels and it costs at most this many
 * tokens.
 */
const longestSide = 1_568;
const mostTokens = 1_600;
const pixelsPerToken = 750;

/** Limits of the API's models. An image may have 5 MB as base64, a request with its documents 32 MB. */
export const anthropicFileRules: FileRules = {
  images: { maxBytes: Math.floor((5 * megabyte * 3) / 4), maxSide: 8_000, tokens: anthropicImageTokens },
  documents: { maxBytes: 20 * megabyte },
};

/** Returns the tokens of an image by Anthropic's rule. An image of unknown size counts as a large one. */
export function anthropicImageTokens(size: PixelSize | undefined): number {
  if (size === undefined) return mostTokens;
  const { width, height } = size;
  const shrink = Math.min(1, longestSide / Math.max(width, height));
  return Math.min(mostTokens, Math.ceil((width * height * shrink * shrink) / pixelsPerToken));
}
