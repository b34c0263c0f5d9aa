import { ParleyError } from "@parley/core/errors";
import type { AnswerLimits } from "@parley/core/ports";
import { type HttpResponse, readBytes } from "@parley/http";

/** The least that one event may hold: some repeat the whole answer, and the instructions and tools of the request. */
const leastEventBytes = 16 * 1024 * 1024;

/** How much an adapter holds of an answer that its caller has not seen yet. */
export interface AnswerBounds {
  /** Of one event, and of an answer in one piece. */
  readonly eventBytes: number;
  /** Of all events together that said nothing to the caller. */
  readonly unseenBytes: number;
  /** Parts, complete or not. */
  readonly parts: number;
}

/** The bounds that follow from the caller's. Beyond them, what the caller sees is the caller's to bound. */
export function boundsFor(limits: AnswerLimits | undefined): AnswerBounds {
  const eventBytes = Math.max(leastEventBytes, 2 * (limits?.answerBytes ?? 0));
  return { eventBytes, unseenBytes: 2 * eventBytes, parts: limits?.answerParts ?? Number.POSITIVE_INFINITY };
}

/** The failure of an answer that passes a bound. */
export function tooLarge(provider: string, problem: string): ParleyError {
  return new ParleyError("answer_too_large", `${provider}: ${problem}`);
}

/** Reads a body whole, up to a bound. */
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
