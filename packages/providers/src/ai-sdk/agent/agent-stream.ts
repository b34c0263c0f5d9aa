import type { ParleyError } from "@parley/core/errors";
import type { CanonicalMessage, TokenUsage } from "@parley/core/messages";
import type { AgentEvent, TurnReason } from "@parley/wire";

/** What an agent's turn left behind. */
export interface AgentResult {
  threadId: string;
  turnId: string;
  /** Why the turn ended: `stop`, `length`, `tool-calls`, `max-steps`, `aborted`, ... */
  reason: TurnReason;
  /** The text of the last answer. */
  text: string;
  /** What the turn added to the store behind its input, in order. */
  messages: CanonicalMessage[];
  /** The sum over all steps, as far as the provider reported it. */
  usage?: TokenUsage;
}

/**
 * A turn under way. It goes on whether or not anyone reads: iterating only watches, from the first event on and
 * as often as wanted, and leaving an iteration stops the watching.
 *
 * `final` resolves when everything is stored. If the turn failed, it rejects with the `ParleyError` that the
 * `error` event told, after what had arrived was stored; a rejection that nobody awaits is not reported as unhandled.
 */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  readonly threadId: string;
  readonly turnId: string;
  /** The text as it comes, without reasoning and tools. Ends with the turn, however it ended. */
  readonly textStream: AsyncIterable<string>;
  readonly final: Promise<AgentResult>;
  /** Stops the turn: what exists is kept, open calls are answered, `final` resolves with `aborted`. */
  stop(): void;
}

/** The readers' side of a turn, and where the agent writes. Keeps the turn's events until it is forgotten itself. */
export class AgentFeed implements AgentStream {
  readonly threadId: string;
  readonly turnId: string;
  readonly final: Promise<AgentResult>;
  readonly #events: AgentEvent[] = [];
  readonly #stop: () => void;
  #waiting: (() => void)[] = [];
  #ended = false;
  #settle: { resolve: (result: AgentResult) => void; reject: (error: ParleyError) => void } | undefined;

  constructor(turn: { readonly threadId: string; readonly turnId: string; readonly stop: () => void }) {
    this.threadId = turn.threadId;
    this.turnId = turn.turnId;
    this.#stop = turn.stop;
    this.final = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.final.catch(() => {});
  }

  get textStream(): AsyncIterable<string> {
    const events = this.#read.bind(this);
    return {
      async *[Symbol.asyncIterator]() {
        for await (const event of events()) if (event.type === "text-delta") yield event.delta;
      },
    };
  }

  stop(): void {
    this.#stop();
  }

  push(event: AgentEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  complete(result: AgentResult): void {
    this.#end();
    this.#settle?.resolve(result);
  }

  fail(error: ParleyError): void {
    this.#end();
    this.#settle?.reject(error);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.#read();
  }

  async *#read(): AsyncGenerator<AgentEvent, void, undefined> {
    for (let at = 0; ; at += 1) {
      while (at >= this.#events.length) {
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
      }
      const event = this.#events[at];
      if (event !== undefined) yield event;
    }
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
