import type { ProviderAdapter } from "@parley/core/ports";
import type { Answer } from "./answer.js";

/** An answer that an endpoint will give, complete or only up to an event. */
export interface Scripted {
  readonly answer: Answer;
  /** Number of events that are sent before the connection ends. Default: all. */
  readonly cutAt?: number | undefined;
  /** The server counts its ids from 0 in every answer, if it is one that could. */
  readonly sameIds?: boolean | undefined;
}

/** A request as it arrived. */
export interface Arrived {
  readonly body: unknown;
  /** Objections of the provider's rules. It was refused unless this is empty. */
  readonly problems: readonly string[];
}

/**
 * One provider with its adapter: makes conversations, and is shown those of others. Behind it is a server that
 * implements the provider's protocol, refuses what the provider would refuse, and answers by the script, else with a
 * greeting.
 */
export interface ProviderEndpoint {
  readonly name: string;
  /** As the origin of messages and in a call's metadata. */
  readonly provider: string;
  /** The model that makes conversations, and another one. */
  readonly models: readonly [string, string];
  /** True if the provider signs or encrypts its reasoning, so that it recognizes its own. */
  readonly seals: boolean;
  adapter(model: string): ProviderAdapter;
  /** Sets the answers to the next requests. Their ids count on from `given` answers of the same conversation. */
  script(answers: readonly Scripted[], given?: number): void;
  /** Returns the number of events of an answer; 0 if answers are no stream of events that could be cut. */
  eventsIn(answer: Answer): number;
  /** Returns the number of requests that have arrived. */
  count(): number;
  /** Returns the newest request. */
  latest(): Arrived | undefined;
  close(): Promise<void>;
}

export const greeting: Answer = { pieces: [{ type: "say", text: "OK" }] };

/** The answers of an endpoint in their order, numbered: ids are made of the numbers. */
export class AnswerQueue {
  #waiting: readonly Scripted[] = [];
  #given = 0;

  set(answers: readonly Scripted[], given = 0): void {
    this.#waiting = answers;
    this.#given = given;
  }

  next(): Scripted & { readonly n: number } {
    const [first, ...rest] = this.#waiting;
    this.#waiting = rest;
    this.#given += 1;
    return { ...(first ?? { answer: greeting }), n: this.#given };
  }
}
