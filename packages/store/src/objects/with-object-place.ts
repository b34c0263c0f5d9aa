import { randomUUID } from "node:crypto";
import { pieceBytes } from "@parley/core/messages";
import type { LogStore, LogStoreRoot, RemovedBlob } from "@parley/core/ports";
import type { Finding } from "@parley/wire";
import type { ObjectPlace } from "./object-place.js";

/** Blobs that are removed, or checked, at once; and objects that are removed in parallel. */
const pace = { blobs: 50, known: 1_000, sideBySide: 8 };

/**
 * Returns a store whose files are objects elsewhere. Names, references, sizes and quotas stay in the store itself; an
 * object holds a piece of bytes, under the number of the bytes, which is never used again: a removal of an object
 * cannot hit a later upload of the same bytes. Files that the store has itself from before are read as they are.
 *
 * A piece is counted in the store before it is put into its place, and an upload is finished after all of them are.
 * Objects are removed after the transaction that removed the bytes, from a list that it wrote: if the process dies in
 * between, the next collection removes them.
 */
export function withObjectPlace(root: LogStoreRoot, shared: ObjectPlace): LogStoreRoot {
  const place = ofStore(root, shared);
  return {
    ...root,
    async collectBlobs(limit) {
      const collected = await root.collectBlobs(limit);
      await removeObjects(root, place);
      return collected;
    },
    async examine(options) {
      return [...(await root.examine(options)), await objectFinding(root, place, options.fix)];
    },
    forOwner: (owner) => ownerStore(root.forOwner(owner), place),
  };
}

/** Returns this store's part of a place: several stores may use the same one, and number their bytes alike. */
function ofStore(root: LogStoreRoot, shared: ObjectPlace): ObjectPlace {
  let prefix: Promise<string> | undefined;
  const own = async (key: string) => {
    prefix ??= root.identity(randomUUID()).then((id) => `${id}/`);
    try {
      return (await prefix) + key;
    } catch (error) {
      prefix = undefined;
      throw error;
    }
  };
  return {
    put: async (key, bytes) => shared.put(await own(key), bytes),
    get: async (key, offset, length) => shared.get(await own(key), offset, length),
    remove: async (key) => shared.remove(await own(key)),
    async *list(within) {
      const start = await own("");
      for await (const key of shared.list(start + within)) yield key.slice(start.length);
    },
  };
}

function ownerStore(store: LogStore, place: ObjectPlace): LogStore {
  return {
    ...store,
    async writePiece(piece) {
      const { data } = piece;
      const written = await store.writePiece({ ...piece, data: { byteLength: data.byteLength } });
      if (data instanceof Uint8Array) await place.put(keyOf(written.blob, piece.n), data);
      return written;
    },
    async readBlob(query) {
      const found = await store.readBlob(query);
      if (found !== "elsewhere") return found;
      const { blob, offset } = query;
      const n = Math.floor(offset / pieceBytes);
      const start = offset - n * pieceBytes;
      const length = Math.min(query.length, pieceBytes - start);
      return length <= 0 ? null : place.get(keyOf(blob, n), start, length);
    },
  };
}

/** Returns the key of a piece. */
function keyOf(blob: number, n: number): string {
  return `${blob}/${n}`;
}

async function removeObjects(root: LogStoreRoot, place: ObjectPlace): Promise<void> {
  for (;;) {
    const removed = await root.removedBlobs(pace.blobs);
    for (const each of removed) await removeBlob(place, each);
    if (removed.length > 0) await root.forgetRemoved(removed.map(({ blob }) => blob));
    if (removed.length < pace.blobs) return;
  }
}

async function removeBlob(place: ObjectPlace, { blob, pieces }: RemovedBlob): Promise<void> {
  await removeKeys(
    place,
    Array.from({ length: pieces }, (_, n) => keyOf(blob, n)),
  );
}

async function removeKeys(place: ObjectPlace, keys: readonly string[]): Promise<void> {
  const waiting = [...keys];
  const worker = async () => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) await place.remove(key);
  };
  await Promise.all(Array.from({ length: pace.sideBySide }, worker));
}

/** Finds objects of bytes that the store does not have, left by an upload whose node slept for too long. */
async function objectFinding(root: LogStoreRoot, place: ObjectPlace, fix: boolean): Promise<Finding> {
  let objects = 0;
  let orphans = 0;
  let keys: string[] = [];
  const look = async () => {
    const numbers = [...new Set(keys.map(numberOf))];
    const existing = new Set(
      await root.existingBlobs(numbers).catch((error: unknown) => {
        throw new StoreFailure(error);
      }),
    );
    const lost = keys.filter((key) => !existing.has(numberOf(key)));
    orphans += lost.length;
    if (fix) await removeKeys(place, lost);
    keys = [];
  };
  try {
    if (fix) await removeObjects(root, place);
    for await (const key of place.list("")) {
      if (!/^\d+\/\d+$/.test(key)) continue;
      objects += 1;
      keys.push(key);
      if (keys.length >= pace.known) await look();
    }
    if (keys.length > 0) await look();
  } catch (error) {
    return error instanceof StoreFailure ? incomparable(error.cause) : unreachable(error);
  }
  if (orphans === 0) return { area: "files", level: "ok", message: `Objects: ${objects}` };
  return {
    area: "files",
    level: "warning",
    message: `${orphans} of ${objects} objects are of files that the store does not have`,
    fixable: true,
    ...(fix ? { fixed: true } : { advice: "Let the doctor remove them" }),
  };
}

/** A failure of the store, while its objects were looked at. */
class StoreFailure extends Error {
  constructor(cause: unknown) {
    super("The store does not tell which bytes it has", { cause });
  }
}

function incomparable(error: unknown): Finding {
  return {
    area: "files",
    level: "error",
    message: `The objects cannot be compared with the files: ${textOf(error)}`,
    advice: "No object was removed. Try again when the whole store answers",
  };
}

function unreachable(error: unknown): Finding {
  return {
    area: "files",
    level: "error",
    message: `The object store does not answer: ${textOf(error)}`,
    advice: "Check the settings of files.s3",
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function numberOf(key: string): number {
  return Number(key.split("/")[0]);
}
