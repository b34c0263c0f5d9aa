/**
 * Bytes of one piece. Every piece of a file but the last has exactly this size, so a position in a file names its piece.
 * Pieces that were stored with another size could no longer be found: this is part of the stored form.
 */
export const pieceBytes = 256 * 1024;

/** Maximum size in bytes of a derived form of a file, which is stored and read as a whole. */
export const derivedBytes = 4 * pieceBytes;
