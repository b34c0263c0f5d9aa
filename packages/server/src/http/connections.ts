import type { ServerResponse } from "node:http";
import { ParleyError } from "@parley/core";
import { type Caller, rateKeyOf } from "../auth/caller.js";

/** Why a server closes a connection. */
export type CloseReason = "draining" | "revoked" | "closing";

/** What someone is told whose answer is broken off. Those of a node that merely drains are told to their end. */
export function breakOffError(reason: Exclude<CloseReason, "draining">): ParleyError {
  if (reason === "revoked") return new ParleyError("unauthorized");
  return new ParleyError("draining", undefined, { retryAfterMs: 1_000 });
}

/**
 * Calls when nothing of an answer waits here any more: its reader has it all, or has left. At once in a call within the
 * process, where the caller holds the answer.
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

/** The connections that are open, by who opened them. */
export class Connections {
  readonly #byCaller = new Map<string, Set<LastingConnection>>();
  readonly #most: number;
  /** As they were at the last check; undefined once one has come or gone. */
  #grouped: Grouped | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a caller may have one more. */
  hasRoom(caller: Caller): boolean {
    return (this.#byCaller.get(rateKeyOf(caller))?.size ?? 0) < this.#most;
  }

  /** Refuses one more where a caller has as many as it may. */
  checkRoom(caller: Caller): void {
    if (this.hasRoom(caller)) return;
    throw new ParleyError(
      "limit_exceeded",
      `${this.#most} connections of this key are open (connectionsPerKey)`,
    );
  }

  /** Returns a function that takes it out again. */
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
   * Closes the connections of callers who are not welcome any more. It is asked once about all of them, with the same list
   * as long as no connection has come or gone.
   */
  async recheck(findUnwelcome: (callers: readonly Caller[]) => Promise<ReadonlySet<Caller>>): Promise<void> {
    this.#grouped ??= this.#group();
    const { callers, groups } = this.#grouped;
    if (callers.length === 0) return;
    for (const caller of await findUnwelcome(callers)) {
      for (const connection of groups.get(caller) ?? []) connection.close("revoked");
    }
  }

  /** Connections by the caller that stands for all who came with the same key and login. */
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

/** Connections of one key, by the login that each came with. */
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
