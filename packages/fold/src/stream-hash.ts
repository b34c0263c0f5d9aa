/** The hash of an empty text, the initial value for `addToHash`. */
export const emptyHash = 0x811c9dc5;

/**
 * Adds text to a hash (FNV-1a over UTF-16 units). A client and a server compute the same hash of the streamed
 * text, to check that they have the same text; it is not a protection against tampering.
 */
export function addToHash(hash: number, text: string): number {
  let sum = hash;
  for (let index = 0; index < text.length; index += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return sum;
}
