import type { ServerResponse } from "node:http";
import { ParleyError } from "@parley/core";
import { type Caller, rateKeyOf } from "../auth/caller.js";

/** Reason why a server closes a connection. */
export type CloseReason = "draining" | "revoked" | "closing";

/** Returns the error for a caller whose answer is broken off. A node that merely drains lets answers end. */
export function breakOffError(reason: Exclude<CloseReason, "draining">): ParleyError {
  if (reason === "revoked") return new ParleyError("unauthorized");
  return new ParleyError("draining", undefined, { retryAfterMs: 1_000 });
}

/**
 * Calls back when no part of an answer is buffered any more: its reader has it all, or has left. At once in a call
 * within the process, where the caller holds the answer.
 */
export function whenGone(answer: ServerResponse | undefined, then: () => void): void {
  if (answer === undefined || answer.destroyed) then();
  else answer.once("close", then);
}

/** A connection that lasts: a socket, a stream of events, an export, or a request that waits for a turn. */
export interface LastingConnection {
  readonly caller: Caller;
  /** Closes it. May be called more than once. */
  close(reason: CloseReason): void;
}

interface Grouped {
  readonly callers: readonly Caller[];
  readonly groups: ReadonlyMap<Caller, readonly LastingConnection[]>;
}

/** The open connections, by caller. */
export class Connections {
  readonly #byCaller = new Map<string, Set<LastingConnection>>();
  readonly #most: number;
  /** Groups as of the last check; undefined once a connection was added or removed. */
  #grouped: Grouped | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns true if a caller may have one more. */
  hasCapacity(caller: Caller): boolean {
    return (this.#byCaller.get(rateKeyOf(caller))?.size ?? 0) < this.#most;
  }

  /** Refuses one more if a caller has reached its limit. */
  checkCapacity(caller: Caller): void {
    if (this.hasCapacity(caller)) return;
    throw new ParleyError(
      "limit_exceeded",
      `${this.#most} connections of this key are open (connectionsPerKey)`,
    );
  }

  /** Adds a connection. Returns a function that removes it. */
  add(connection: LastingConnection): () => void {
    const key = rateKeyOf(connection.caller);
    let group = this.#byCaller.get(key);
    if (group === undefined) {
      group = new Set();
      this.#byCaller.set(key, group);
    }
    group.add(connection);
    this.#grouped = undefined;
    return () => {
      this.#grouped = undefined;
      const current = this.#byCaller.get(key);
      if (current?.delete(connection) && current.size === 0) this.#byCaller.delete(key);
    };
  }

  closeAll(reason: CloseReason): void {
    for (const connection of this.#all()) connection.close(reason);
  }

  /**
   * Closes the connections of callers who would not be admitted any more. `findUnwelcome` is called once for all of
   * them, with the same list as long as no connection was added or removed.
   */
  async recheck(findUnwelcome: (callers: readonly Caller[]) => Promise<ReadonlySet<Caller>>): Promise<void> {
    this.#grouped ??= this.#group();
    const { callers, groups } = this.#grouped;
    if (callers.length === 0) return;
    for (const caller of await findUnwelcome(callers)) {
      for (const connection of groups.get(caller) ?? []) connection.close("revoked");
    }
  }

  /** Groups connections by one caller for all with the same key and login. */
  #group(): Grouped {
    const groups = new Map<Caller, readonly LastingConnection[]>();
    for (const group of this.#byCaller.values()) {
      for (const [, same] of byLogin(group)) {
        const [first] = same;
        if (first !== undefined) groups.set(first.caller, same);
      }
    }
    return { callers: [...groups.keys()], groups };
  }

  #all(): LastingConnection[] {
    return [...this.#byCaller.values()].flatMap((group) => [...group]);
  }
}

/** Groups connections of one key by the login of each. */
function byLogin(group: Iterable<LastingConnection>): Map<string | undefined, LastingConnection[]> {
  const groups = new Map<string | undefined, LastingConnection[]>();
  for (const connection of group) {
    const { loginHash } = connection.caller;
    const same = groups.get(loginHash);
    if (same === undefined) groups.set(loginHash, [connection]);
    else same.push(connection);
  }
  return groups;
}
