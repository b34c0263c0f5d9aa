import type { ParleyError } from "@parley/core/errors";
import { unreadableAnswer } from "../../call/http-failure.js";

/** Types of chunks that occur in any answer, including an empty one. */
const frame = new Set(["stream-start", "response-metadata", "raw"]);

/**
 * Detects that a provider sent a page or some other document instead of a stream: packages of the SDK skip
 * everything that is not an event, and end as if the answer were empty. An answer in one piece, which a
 * middleware may turn into a stream, has content, or a reason why it ended.
 */
export class PageWatch {
  readonly #provider: string;
  #mayBePage: boolean;

  constructor(headers: Readonly<Record<string, string>> | undefined, provider: string) {
    this.#provider = provider;
    const type = headers?.["content-type"] ?? "";
    this.#mayBePage = /^\s*(?:text\/(?:html|plain|xml)|application\/(?:json|xml))/i.test(type);
  }

  /**
   * Checks the next chunk of the model's stream. Returns the failure if it shows that there was no answer.
   */
  see(chunk: { readonly type: string; readonly finishReason?: unknown }): ParleyError | undefined {
    if (!this.#mayBePage || frame.has(chunk.type)) return undefined;
    if (chunk.type === "finish" && saysNothing(chunk.finishReason)) return this.end();
    this.#mayBePage = false;
    return undefined;
  }

  /** Returns the failure of a stream that ended like this. */
  end(): ParleyError | undefined {
    if (!this.#mayBePage) return undefined;
    this.#mayBePage = false;
    return unreadableAnswer(this.#provider, "it is not an event stream");
  }
}

/**
 * Returns true for the reason that packages report if the provider gave none: an object, or in older versions
 * a string.
 */
function saysNothing(reason: unknown): boolean {
  if (typeof reason === "string") return reason === "other" || reason === "unknown";
  const { unified, raw } = (reason ?? {}) as { unified?: unknown; raw?: unknown };
  return (unified === "other" || unified === "interrupted") && raw === undefined;
}
