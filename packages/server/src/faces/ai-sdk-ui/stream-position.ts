import { invalidField } from "@parley/core/errors";
import { addToHash, emptyHash } from "@parley/fold";
import type { ChunkFilter } from "./chunk-filters.js";
import type { UiChunk } from "./ui-chunk.js";

interface Counted {
  readonly count: number;
  readonly hash: number;
}

/** The position in a turn's stream up to which a client has it, however its text was cut. */
export interface StreamPosition {
  /** Chunks that have a fixed order, and a hash of them and of the parts that have ended. */
  readonly chunks: Counted;
  /** Parts that have ended. */
  readonly ended: number;
  /** Characters of each part that was growing, in the order of their starts, and a hash of them. */
  readonly growing: readonly Counted[];
}

/** Reads a position: `<chunks>-<hash>.<ended parts>.<characters>-<hash>...`. */
export function parsePosition(text: string): StreamPosition {
  if (!/^\d{1,9}-\d{1,10}\.\d{1,9}(\.\d{1,9}-\d{1,10}){0,100}$/.test(text)) {
    throw invalidField(
      "after",
      "<turn>~<chunks>-<hash>.<ended parts>.<characters>-<hash> of each growing part",
    );
  }
  const [chunks = "", ended, ...growing] = text.split(".");
  return { chunks: countedOf(chunks), ended: Number(ended), growing: growing.map(countedOf) };
}

function countedOf(text: string): Counted {
  const [count = 0, hash = 0] = text.split("-").map(Number);
  return { count, hash };
}

/**
 * Chunks that a position does not count, because they come in another order in a replay or not at all: outcomes of calls,
 * which are complete in any order, and data. Repeated they change nothing, so they are always sent.
 */
const uncounted = /^(tool-output|data)-/;

interface SeenPart {
  readonly place: number;
  length: number;
  hash: number;
}

/**
 * Leaves out everything before a position. `onDiverged` is called if the turn differs from what the client was shown:
 * its node was lost with chunks that are in no log, and the turn has fewer of them, or others.
 */
export function afterPosition(position: StreamPosition, onDiverged: () => void): ChunkFilter {
  const { chunks, ended, growing } = position;
  let seen = 0;
  let hash = emptyHash;
  const parts = new Map<string, SeenPart>();
  const knownOf = ({ place }: SeenPart) => growing[place - ended];

  /** Takes text of a part; returns the piece of it that the client does not have. */
  const grow = (part: SeenPart, delta: string): string => {
    const known = knownOf(part);
    const left = part.place < ended ? delta.length : Math.max(0, (known?.count ?? 0) - part.length);
    part.length += delta.length;
    part.hash = addToHash(part.hash, delta.slice(0, left));
    if (known !== undefined && left > 0 && left <= delta.length && part.hash !== known.hash) onDiverged();
    return delta.slice(left);
  };
  /** Counts a chunk; returns true if the client lacks it. */
  const count = (chunk: UiChunk): boolean => {
    seen += 1;
    if (seen > chunks.count) return true;
    hash = addToHash(hash, chunk.type + ("toolCallId" in chunk ? chunk.toolCallId : ""));
    const part = "id" in chunk && chunk.id !== undefined ? parts.get(chunk.id) : undefined;
    if (part !== undefined && chunk.type.endsWith("-end")) hash = addToHash(hash, String(part.hash));
    if (seen === chunks.count && hash !== chunks.hash) onDiverged();
    return false;
  };
  return (chunk) => {
    if (uncounted.test(chunk.type)) return chunk;
    if (chunk.type === "text-delta" || chunk.type === "reasoning-delta") {
      const part = parts.get(chunk.id);
      const delta = part === undefined ? "" : grow(part, chunk.delta);
      return delta === "" ? undefined : { ...chunk, delta };
    }
    if (chunk.type === "text-start" || chunk.type === "reasoning-start") {
      parts.set(chunk.id, { place: parts.size, length: 0, hash: emptyHash });
    }
    if (chunk.type === "text-end" || chunk.type === "reasoning-end") {
      const part = parts.get(chunk.id);
      const known = part === undefined ? undefined : knownOf(part);
      if (part !== undefined && known !== undefined && part.length < known.count) onDiverged();
    }
    const isNew = count(chunk);
    // The answer ends before the position that the client has reached.
    if ((chunk.type === "finish" || chunk.type === "error") && seen < chunks.count) onDiverged();
    return isNew ? chunk : undefined;
  };
}
