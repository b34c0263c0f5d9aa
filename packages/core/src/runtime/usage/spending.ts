import { addCosts, costSum, omitUndefined } from "@parley/fold";
import type { Usage } from "@parley/wire";
import type { AddedUsage } from "../../ports/usage-store.js";
import type { ProviderCallRecord } from "../../ports.js";
import { addUsage, wireUsage } from "../../turn/call-usage.js";
import type { CallContext, Environment, RuntimeHooks } from "../environment.js";

/** The sums of an owner's calls of one model, in one conversation or none, that are not in the store yet. */
interface Pending {
  readonly owner: string;
  added: AddedUsage;
}

/**
 * Reports every provider call to the host, and adds those that no turn holds to the store's sums. Writes happen in
 * the background, one at a time: calls that arrive meanwhile are summed and written together. A write that fails is
 * reported and not repeated, because it may have taken effect.
 */
export class Spending {
  readonly #root: Environment["root"];
  readonly #onCall: RuntimeHooks["onCall"];
  readonly #report: Environment["report"];
  readonly #pending = new Map<string, Pending>();
  #writing: Promise<void> | undefined;

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
    const key = JSON.stringify([owner, conversationId, model]);
    const before = this.#pending.get(key)?.added;
    const usage = summed(before?.usage, call.usage && wireUsage(call.usage));
    const cost = before === undefined ? costSum(call.cost) : addCosts(before.cost, costSum(call.cost));
    const added = { model, cost, ...omitUndefined({ conversationId, usage }) };
    this.#pending.set(key, { owner, added });
    this.#writing ??= this.#write();
  }

  /** Resolves when everything that was added before is written. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    // Calls that end together are written together.
    await Promise.resolve();
    for (const [key, { owner, added }] of this.#pending) {
      this.#pending.delete(key);
      try {
        await this.#root.forOwner(owner).addUsage(added);
      } catch (error) {
        this.#report(error, "usage", added.conversationId);
      }
    }
    this.#writing = undefined;
  }
}

function summed(left: Usage | undefined, right: Usage | undefined): Usage | undefined {
  return left === undefined || right === undefined ? (left ?? right) : addUsage(left, right);
}
