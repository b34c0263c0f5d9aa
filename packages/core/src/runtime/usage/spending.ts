import { addCosts, costSum, omitUndefined } from "@parley/fold";
import type { Usage } from "@parley/wire";
import type { AddedUsage } from "../../ports/usage-store.js";
import type { ProviderCallRecord } from "../../ports.js";
import { addUsage, wireUsage } from "../../turn/call-usage.js";
import type { CallContext, Environment, RuntimeHooks } from "../environment.js";

/** The sums of an owner's calls that are not in the store yet. */
interface Pending {
  /** By model and conversation. */
  readonly sums: Map<string, AddedUsage>;
  readonly written: Promise<void>;
}

/**
 * Reports every provider call to the host, and adds those that no turn holds to the store's sums. Writes happen in
 * the background, one at a time of each owner: calls that arrive meanwhile are summed and written together. A write that
 * fails is reported and not repeated, because it may have taken effect.
 */
export class Spending {
  readonly #root: Environment["root"];
  readonly #onCall: RuntimeHooks["onCall"];
  readonly #report: Environment["report"];
  /** By owner. */
  readonly #pending = new Map<string, Pending>();

  constructor(parts: {
    readonly root: Environment["root"];
    readonly hooks: RuntimeHooks;
    readonly report: Environment["report"];
  }) {
    this.#root = parts.root;
    this.#onCall = (call, context) => parts.hooks.onCall?.(call, context);
    this.#report = parts.report;
  }

  /** Adds a call that its turn holds. */
  made(call: ProviderCallRecord, context: CallContext): void {
    try {
      this.#onCall?.(call, context);
    } catch (error) {
      this.#report(error, "onCall", context.conversationId);
    }
  }

  /** Adds a call that no turn holds. `conversationId`: the conversation that it is counted for. */
  madeOutsideTurn(call: ProviderCallRecord, context: CallContext): void {
    this.made(call, context);
    const { owner, conversationId, model } = context;
    const key = JSON.stringify([conversationId, model]);
    const sums = this.#pending.get(owner)?.sums ?? new Map<string, AddedUsage>();
    const before = sums.get(key);
    const usage = summed(before?.usage, call.usage && wireUsage(call.usage));
    const cost = before === undefined ? costSum(call.cost) : addCosts(before.cost, costSum(call.cost));
    sums.set(key, { model, cost, ...omitUndefined({ conversationId, usage }) });
    if (!this.#pending.has(owner)) this.#pending.set(owner, { sums, written: this.#write(owner, sums) });
  }

  /** Resolves when everything that was added before is written: of one owner, or of all. */
  async settled(owner?: string): Promise<void> {
    const pending = owner === undefined ? [...this.#pending.values()] : [this.#pending.get(owner)];
    await Promise.all(pending.map((each) => each?.written));
  }

  async #write(owner: string, sums: Map<string, AddedUsage>): Promise<void> {
    // Calls that end together are written together.
    await Promise.resolve();
    for (const [key, added] of sums) {
      sums.delete(key);
      try {
        await this.#root.forOwner(owner).addUsage(added);
      } catch (error) {
        this.#report(error, "usage", added.conversationId);
      }
    }
    this.#pending.delete(owner);
  }
}

function summed(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  return left === undefined || right === undefined ? (left ?? right) : addUsage(left, right);
}
