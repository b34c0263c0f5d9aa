import { ParleyError } from "@parley/core/errors";
import type { KeyStore, LogStore, LogStoreRoot, OutboxStore, SecretStore } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import { type Gate, gate } from "../gate.js";
import type { StoreCall, StoreFault } from "./memory-log-store.js";

/** Faults of one node's calls to the store. */
export interface StoreFaults {
  /**
   * Makes the next call of the method fail: without effect (`before`), or with one that the caller does not learn
   * about.
   */
  fail(method: StoreCall["method"], fault?: StoreFault, times?: number): void;
  /** Refuses calls of the method, without effect, if `why` returns an error for their arguments. */
  refuse(method: StoreCall["method"], why: (...args: readonly unknown[]) => ParleyError | undefined): void;
  /** Cuts the node off from the store until it is healed. Calls in progress are answered. */
  cutOff(): void;
  heal(): void;
  /** Holds the next call of the method at the gate that is returned; `reached` resolves when it is there. */
  hold(method: StoreCall["method"]): Gate;
  /** Every call that was made, in order, with any outcome. */
  readonly calls: readonly StoreCall[];
}

/**
 * Creates a handle on any store with faults that a test chooses, for one node: the store behind it and the handles of
 * others are not affected.
 */
export function createFaultyStore(root: LogStoreRoot): {
  readonly store: LogStoreRoot;
  readonly faults: StoreFaults;
} {
  const calls: StoreCall[] = [];
  const planned: { method: StoreCall["method"]; fault: StoreFault }[] = [];
  const held: { method: StoreCall["method"]; at: Gate }[] = [];
  const refusals: { method: StoreCall["method"]; why: Parameters<StoreFaults["refuse"]>[1] }[] = [];
  let isCutOff = false;

  const takeFrom = <T extends { method: StoreCall["method"] }>(list: T[], method: string): T | undefined => {
    const index = list.findIndex((each) => each.method === method);
    return index === -1 ? undefined : list.splice(index, 1)[0];
  };
  const pass = async (call: StoreCall, make: () => Promise<unknown>): Promise<unknown> => {
    calls.push(call);
    await takeFrom(held, call.method)?.at.wait();
    const fault = takeFrom(planned, call.method)?.fault;
    if (isCutOff || fault === "before") throw new ParleyError("store_unavailable");
    for (const { method, why } of refusals) {
      const refusal = method === call.method ? why(...call.args) : undefined;
      if (refusal !== undefined) throw refusal;
    }
    const result = await make();
    if (fault === "after") throw new ParleyError("store_unavailable");
    return result;
  };
  const wrap = <T extends LogStoreRoot | LogStore | KeyStore | OutboxStore | SecretStore>(
    target: T,
    owner: string | undefined,
    prefix = "",
  ): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (name === "keys") return wrap(value as KeyStore, undefined, "keys.");
        if (name === "outbox") return wrap(value as OutboxStore, undefined, "outbox.");
        if (name === "secrets") return wrap(value as SecretStore, undefined, "secrets.");
        if (typeof value !== "function" || name === "close" || name === "holdsLeases") return value;
        if (name === "forOwner") return (id: string) => wrap((of as LogStoreRoot).forOwner(id), id);
        return (...args: unknown[]) => {
          const method = `${prefix}${String(name)}` as StoreCall["method"];
          const call = { method, args, ...omitUndefined({ owner }) };
          return pass(call, () => Reflect.apply(value, of, args) as Promise<unknown>);
        };
      },
    });
  return {
    store: wrap(root, undefined),
    faults: {
      calls,
      fail(method, fault = "before", times = 1) {
        for (let count = 0; count < times; count += 1) planned.push({ method, fault });
      },
      refuse(method, why) {
        refusals.push({ method, why });
      },
      cutOff() {
        isCutOff = true;
      },
      heal() {
        isCutOff = false;
        planned.length = 0;
        refusals.length = 0;
        for (const { at } of held.splice(0)) at.open();
      },
      hold(method) {
        const at = gate();
        held.push({ method, at });
        return at;
      },
    },
  };
}
