import { questionType, steeringType, type UiChunk } from "./ui-chunk.js";

/** Passes on, changes or drops the chunks of one stream. Undefined: dropped. */
export type ChunkFilter = (chunk: UiChunk) => UiChunk | undefined;

/**
 * Leaves out the first `steps` steps, which a client that posted the message itself has. A posted message keeps its
 * parts, so that a repeated text would be shown twice; outcomes of calls may be repeated, and are new after a
 * decision.
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
