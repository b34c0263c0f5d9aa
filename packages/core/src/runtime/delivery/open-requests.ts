import type { Clock } from "../../clock.js";
import type { Wake } from "../../ports/log-store.js";
import type { Watchers } from "./watchers.js";

/** A wake-up that arrives later than this is delivered again: better twice than never. */
const echoMs = 5_000;

/**
 * Requests every client of an owner to show a conversation. The clients of this node are notified immediately, those
 * of others by a wake-up; it also comes back to this node, where it is ignored.
 */
export class OpenRequests {
  readonly #env: { readonly clock: Clock; readonly wake: Wake; readonly watchers: Watchers };
  /** Times until which the wake-ups of requests made here are expected back, by conversation. */
  readonly #echoes = new Map<number, number[]>();

  constructor(env: { readonly clock: Clock; readonly wake: Wake; readonly watchers: Watchers }) {
    this.#env = env;
  }

  ask(
    owner: string,
    { conversationId, log }: { readonly conversationId: string; readonly log: number },
  ): void {
    const { clock, wake, watchers } = this.#env;
    const now = clock.monotonic();
    // Without a wake-up port nothing comes back.
    for (const [each, until] of this.#echoes) if ((until.at(-1) ?? 0) < now) this.#echoes.delete(each);
    this.#echoes.set(log, [...(this.#echoes.get(log) ?? []), now + echoMs]);
    watchers.publish(owner, { type: "conversation.open", conversationId });
    wake.notify([log], "open");
  }

  /** Handles a wake-up to show a conversation. */
  async received(log: number): Promise<void> {
    const { clock, watchers } = this.#env;
    const expected = this.#echoes.get(log)?.filter((until) => until >= clock.monotonic()) ?? [];
    if (expected.length > 1) this.#echoes.set(log, expected.slice(1));
    else this.#echoes.delete(log);
    if (expected.length > 0) return;
    await watchers.publishToOwner(log, (conversationId) => ({ type: "conversation.open", conversationId }));
  }
}
