import type { ParleyError } from "@parley/core/errors";
import type { CanonicalMessage, TokenUsage } from "@parley/core/messages";
import type { AgentEvent, TurnReason } from "@parley/wire";

/** Result of an agent's turn. */
export interface AgentResult {
  threadId: string;
  turnId: string;
  /** Reason why the turn ended: `stop`, `length`, `tool-calls`, `max-steps`, `aborted`, ... */
  reason: TurnReason;
  /** The text of the last answer. */
  text: string;
  /** Messages that the turn added to the store after its input, in order. */
  messages: CanonicalMessage[];
  /** The sum over all steps, as far as the provider reported it. */
  usage?: TokenUsage;
}

/**
 * A turn in progress. It continues whether or not it is read: iterating only observes, from the first event
 * on and as often as wanted, and leaving an iteration only stops observing.
 *
 * `final` resolves when everything is stored. If the turn failed, it rejects with the `ParleyError` of the
 * `error` event, after everything that had arrived was stored; an unawaited rejection is not reported as
 * unhandled.
 */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  readonly threadId: string;
  readonly turnId: string;
  /** The text as it arrives, without reasoning and tools. Ends with the turn, however it ended. */
  readonly textStream: AsyncIterable<string>;
  readonly final: Promise<AgentResult>;
  /**
   * Stops the turn: stored and received content is kept, open calls get a result, `final` resolves with
   * `aborted`.
   */
  stop(): void;
}

/**
 * The stream that readers see, with the methods that the agent writes to. Keeps the turn's events as long as
 * it lives.
 */
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
