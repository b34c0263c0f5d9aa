import type { ProviderAdapter } from "@parley/core/ports";
import type { Answer } from "./answer.js";

/** An answer that a desk will give, whole or only up to an event. */
export interface Scripted {
  readonly answer: Answer;
  /** How many events are sent before the connection ends. Default: all. */
  readonly cutAt?: number | undefined;
  /** The server counts its ids from 0 in every answer, where it is one that could. */
  readonly sameIds?: boolean | undefined;
}

/** A request as it arrived. */
export interface Arrived {
  readonly body: unknown;
  /** What the provider's rules have against it. It was refused unless this is empty. */
  readonly problems: readonly string[];
}

/**
 * One provider with its adapter: makes conversations, and is shown those of others. Behind it stands a server that
 * speaks the provider's protocol, refuses what the provider would refuse, and answers as the script says, else
 * with a greeting.
 */
export interface Desk {
  readonly name: string;
  /** As the origin of messages and in a call's metadata. */
  readonly provider: string;
  /** The model that makes conversations, and another one. */
  readonly models: readonly [string, string];
  /** Whether the provider signs or encrypts what it thought, so that it knows its own again. */
  readonly seals: boolean;
  adapter(model: string): ProviderAdapter;
  /** Sets the answers to the next requests. Their ids count on from `given` answers of the same conversation. */
  script(answers: readonly Scripted[], given?: number): void;
  /** How many events an answer has; 0 where answers are no stream of events that could be cut. */
  eventsIn(answer: Answer): number;
  /** How many requests have arrived. */
  count(): number;
  /** The newest request. */
  latest(): Arrived | undefined;
  close(): Promise<void>;
}

export const greeting: Answer = { pieces: [{ type: "say", text: "OK" }] };

/** The answers of a desk in their order, numbered: ids are made of the numbers. */
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
