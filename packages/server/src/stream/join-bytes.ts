/**
 * Creates a function that joins the pending bytes of one connection. Connections that follow the same conversation
 * have the same pieces pending, so the last result is kept for the next one.
 */
export function createByteJoiner(
  join: (pieces: readonly Buffer[]) => Buffer,
): (pieces: readonly Buffer[]) => Buffer {
  let lastPieces: readonly Buffer[] = [];
  let lastResult: Buffer = Buffer.alloc(0);
  return (pieces) => {
    if (isSame(pieces, lastPieces)) return lastResult;
    lastResult = join(pieces);
    lastPieces = [...pieces];
    return lastResult;
  };
}

function isSame(a: readonly Buffer[], b: readonly Buffer[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}

const concat = createByteJoiner((pieces) => Buffer.concat(pieces));

/** Returns all pieces as one. */
export function concatBytes(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : concat(pieces);
}
