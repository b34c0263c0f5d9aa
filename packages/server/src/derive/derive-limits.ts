/** Bounds of deriving forms of files. What exceeds them has no such form. */
export interface DeriveLimits {
  /** Bytes of a file at most: they are in memory while it is converted. */
  readonly sourceBytes: number;
  /** Pixels of an image at most: four bytes of memory each. */
  readonly pixels: number;
  /** Pixels of the longer side of a thumbnail. */
  readonly thumbnailSide: number;
  /** Bytes that an archive may unpack to: documents of office programs are archives. */
  readonly unpackedBytes: number;
  /** Pages of a document whose text is read. */
  readonly pages: number;
  /** Milliseconds that one file may take. */
  readonly timeoutMs: number;
  /** Bytes by which the process may grow during the conversion. */
  readonly memoryBytes: number;
  /** Milliseconds that the thread is kept without work. */
  readonly idleMs: number;
}

export const defaultDeriveLimits: DeriveLimits = {
  sourceBytes: 32 * 2 ** 20,
  pixels: 40_000_000,
  thumbnailSide: 480,
  unpackedBytes: 64 * 2 ** 20,
  pages: 500,
  timeoutMs: 30_000,
  memoryBytes: 1_000_000_000,
  idleMs: 30_000,
};
