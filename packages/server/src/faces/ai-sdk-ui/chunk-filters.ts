import { invalidField } from "@parley/core/errors";
import { questionType, steeringType, type UiChunk } from "./ui-chunk.js";

/** Passes on, changes or drops the chunks of one stream. Undefined: dropped. */
export type ChunkFilter = (chunk: UiChunk) => UiChunk | undefined;

/**
 * Leaves out what a client has that posted the message itself: its first `steps` steps. A posted message keeps its parts,
 * so that a repeated text would be shown twice; outcomes of calls may be repeated, and are new after a decision.
 */
export function withoutSteps(steps: number): ChunkFilter {
  let begun = 0;
  return (chunk) => {
    if (chunk.type === "start-step") begun += 1;
    if (begun === 0 || begun > steps) return chunk;
    switch (chunk.type) {
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
      case steeringType:
      case questionType:
      case "message-metadata":
      case "finish":
      case "abort":
      case "error":
        return chunk;
      default:
        return undefined;
    }
  };
}

/** The place in a turn's stream up to which a client has it, whatever pieces its text came in. */
export interface StreamPosition {
  /** Chunks that are neither text nor passing. */
  readonly chunks: number;
  /** Parts that have ended. */
  readonly ended: number;
  /** Characters of each part that was growing, in the order of their starts. */
  readonly lengths: readonly number[];
}

/** Reads a position: `<chunks>.<ended parts>.<length>...`. */
export function parsePosition(text: string): StreamPosition {
  const numbers = text.split(".").map(Number);
  const isSound = /^\d{1,9}(\.\d{1,9}){1,200}$/.test(text);
  if (!isSound) throw invalidField("after", "<turn>~<chunks>.<ended parts>.<length of each growing part>");
  const [chunks = 0, ended = 0, ...lengths] = numbers;
  return { chunks, ended, lengths };
}

/** Returns true for a chunk that a position does not count: text, and what a replay leaves out. */
function isPassing(chunk: UiChunk): boolean {
  if (chunk.type === "text-delta" || chunk.type === "reasoning-delta") return true;
  return (
    ("transient" in chunk && chunk.transient === true) ||
    ("preliminary" in chunk && chunk.preliminary === true)
  );
}

/**
 * Leaves out what comes before a position. `onDiverged` is called where the turn has less text than the client was shown:
 * its node was lost, and what the client shows beyond that is in no log.
 */
export function afterPosition(position: StreamPosition, onDiverged: () => void): ChunkFilter {
  let seen = 0;
  /** Parts by id: their place among all parts, and the characters seen. */
  const parts = new Map<string, { readonly place: number; length: number }>();
  const knownLength = (place: number) => position.lengths[place - position.ended] ?? 0;
  return (chunk) => {
    if (chunk.type === "text-delta" || chunk.type === "reasoning-delta") {
      const part = parts.get(chunk.id);
      if (part === undefined || part.place < position.ended) return undefined;
      const known = Math.max(0, knownLength(part.place) - part.length);
      part.length += chunk.delta.length;
      if (known >= chunk.delta.length) return undefined;
      return known === 0 ? chunk : { ...chunk, delta: chunk.delta.slice(known) };
    }
    if (isPassing(chunk)) return seen >= position.chunks ? chunk : undefined;
    seen += 1;
    if (chunk.type === "text-start" || chunk.type === "reasoning-start") {
      parts.set(chunk.id, { place: parts.size, length: 0 });
    }
    if (chunk.type === "text-end" || chunk.type === "reasoning-end") {
      const part = parts.get(chunk.id);
      if (part !== undefined && part.place >= position.ended && part.length < knownLength(part.place)) {
        onDiverged();
      }
    }
    return seen > position.chunks ? chunk : undefined;
  };
}
