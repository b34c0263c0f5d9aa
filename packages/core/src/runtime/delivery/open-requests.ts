import type { Clock } from "../../clock.js";
import type { Wake } from "../../ports/log-store.js";
import type { Watchers } from "./watchers.js";

/** A wake-up that comes back later than this is delivered again: better twice than never. */
const echoMs = 5_000;

/**
 * Asks every client of an owner to show a conversation. The clients of this node are asked at once, those of others by
 * a wake-up; it comes back to this node too, where it says nothing new.
 */
export class OpenRequests {
  readonly #env: { readonly clock: Clock; readonly wake: Wake; readonly watchers: Watchers };
  /** Until when the wake-ups of requests made here are expected back, by conversation. */
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

  /** A wake-up asks to show a conversation. */
  async received(log: number): Promise<void> {
    const { clock, watchers } = this.#env;
    const expected = this.#echoes.get(log)?.filter((until) => until >= clock.monotonic()) ?? [];
    if (expected.length > 1) this.#echoes.set(log, expected.slice(1));
    else this.#echoes.delete(log);
    if (expected.length > 0) return;
    await watchers.publishToOwner(log, (conversationId) => ({ type: "conversation.open", conversationId }));
  }
}
