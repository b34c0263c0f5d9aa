import { ParleyError } from "@parley/core/errors";
import type { AnswerLimits } from "@parley/core/ports";
import { type HttpResponse, readBytes } from "@parley/http";

/**
 * Lower bound for the limit of one event: some repeat the whole answer, and the instructions and tools of the
 * request.
 */
const leastEventBytes = 16 * 1024 * 1024;

/** Limits on the part of an answer that an adapter holds before its caller sees it. */
export interface AnswerBounds {
  /** Bytes of one event, and of an answer in one piece. */
  readonly eventBytes: number;
  /** Bytes of all events together that produced nothing for the caller. */
  readonly unseenBytes: number;
  /** Number of parts, complete or not. */
  readonly parts: number;
}

/**
 * Returns the bounds derived from the caller's limits. Content that the caller sees is the caller's to bound.
 */
export function boundsFor(limits: AnswerLimits | undefined): AnswerBounds {
  const eventBytes = Math.max(leastEventBytes, 2 * (limits?.answerBytes ?? 0));
  return { eventBytes, unseenBytes: 2 * eventBytes, parts: limits?.answerParts ?? Number.POSITIVE_INFINITY };
}

/** Creates the failure of an answer that exceeds a bound. */
export function tooLarge(provider: string, problem: string): ParleyError {
  return new ParleyError("answer_too_large", `${provider}: ${problem}`);
}

/** Reads a whole body, up to a bound. */
export async function readText(response: HttpResponse, provider: string, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let bytes = 0;
  await readBytes(response, (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(provider, `the answer is larger than ${maxBytes} bytes`);
    pieces.push(decoder.decode(chunk, { stream: true }));
  });
  pieces.push(decoder.decode());
  return pieces.join("");
}
