import { AsyncLocalStorage } from "node:async_hooks";

/** The calls of the store that change something: each one can be a point, and each one's outcome is reported. */
const watched = new Set([
  "admit",
  "commitStep",
  "seal",
  "fork",
  "compact",
  "lease",
  "endLease",
  "release",
  "takeOver",
  "claimExpired",
  "flushJournal",
  "create",
  "set",
  "queue",
  "requestStop",
  "respond",
  "addInputs",
  "outbox.claim",
  "outbox.settle",
  "beginUpload",
  "writePiece",
  "finishUpload",
  "collectBlobs",
  "remove",
]);

/**
 * Calls that are made all the time and mostly find nothing to do: only those that did something count, and are
 * reported.
 */
const didSomething = { collectBlobs: ({ blobs }) => blobs > 0 };

/**
 * Places at which this process ends itself (SIGKILL) or suspends itself (SIGSTOP), exactly and without a chance to do
 * anything first, or only reports that it is there (`none`). One point is armed at a time:
 *
 * - `{ kind: "store", method, when, nth?, phase?, has?, sends?, delayMs? }`: at a call of the store. `before` it was
 *   made, `after` it took effect but before its result is known, or `during`: once `sends` messages of it went to the
 *   database server, or `delayMs` after it was started, whichever is given. `phase` distinguishes the commits of a
 *   step (`answer` or `results`), `has` requires a text in what is flushed.
 * - `{ kind: "event", type, nth? }`: after a subscriber received such an event.
 * - `{ kind: "frame", conversationId, nth?, when }`: at a frame for the followers of a conversation. `before` any byte
 *   of it has left the process, or `after` it was passed to the system.
 * - `{ kind: "tool", name, nth? }`: while the tool runs.
 * - `{ kind: "summary", nth? }`: while the model writes a compaction's summary.
 * - `{ kind: "receipt", nth? }`: right after a send was answered.
 * - `{ kind: "post", nth?, when }`: at an attempt to deliver an event: `before` it is sent, or `after` it was
 *   answered.
 */
export class KillPoints {
  #plan;
  #left = 0;
  #report;
  #reportReached;
  #calls = new AsyncLocalStorage();

  /** `reportReached` must have left this process when it returns. */
  constructor(report, reportReached) {
    this.#report = report;
    this.#reportReached = reportReached;
  }

  arm(plan) {
    this.#plan = plan;
    this.#left = plan?.point.nth ?? 1;
  }

  /** Ends or stops this process if the armed point is this one. */
  pass(kind, detail = {}) {
    if (!this.#isHit(kind, detail)) return;
    if (this.#plan.point.when !== "after") this.#strike();
    else setImmediate(() => setImmediate(() => this.#strike()));
  }

  /** Counts a message that a client of the database driver sent to the server. */
  sent() {
    const call = this.#calls.getStore();
    if (call === undefined) return;
    call.sends -= 1;
    if (call.sends === 0) this.#strike();
  }

  /** Ends or stops this process at once if the armed point is this one and matches `when`. */
  passAt(kind, when) {
    if (this.#plan?.point.when === when && this.#isHit(kind, {})) this.#strike();
  }

  /** Returns a store whose calls can be points, and are reported with their outcomes. */
  watch(store, prefix = "") {
    return new Proxy(store, {
      get: (of, name) => {
        const value = Reflect.get(of, name);
        if (name === "outbox") return this.watch(value, "outbox.");
        if (typeof value !== "function") return value;
        if (name === "forOwner") return (owner) => this.watch(of.forOwner(owner));
        const method = `${prefix}${String(name)}`;
        if (!watched.has(method)) return value.bind(of);
        return (...args) => this.#call(method, args, () => Reflect.apply(value, of, args));
      },
    });
  }

  async #call(method, args, make) {
    if (method in didSomething) return this.#idleCall(method, args, make);
    const point = this.#isHit("store", { method, args }) ? this.#plan.point : undefined;
    if (point?.when === "before") this.#strike();
    let made;
    if (point?.when !== "during") made = make();
    else if (point.delayMs === undefined) made = this.#calls.run({ sends: point.sends ?? 1 }, make);
    else {
      made = make();
      setTimeout(() => this.#strike(), point.delayMs);
    }
    try {
      const value = await made;
      // A call that was answered before its point was reached has at least not reported its result.
      if (point !== undefined && point.when !== "before") this.#strike();
      this.#report({ type: "store", method, ...fieldsOf(method, args, value) });
      return value;
    } catch (error) {
      this.#report({
        type: "store",
        method,
        ...fieldsOf(method, args),
        refused: error.code ?? String(error),
      });
      throw error;
    }
  }

  /**
   * Makes a call that may find nothing to do. It is recognized by its messages: one that has nothing to do sends one.
   * The call that is struck in its middle has `nth` after as many of its kind.
   */
  async #idleCall(method, args, make) {
    const point = this.#plan?.point;
    const isMine = point?.kind === "store" && point.method === method;
    const isLast = isMine && this.#left === 1 && point.when === "during" && point.sends !== undefined;
    const value = await (isLast ? this.#calls.run({ sends: 1 + point.sends }, make) : make());
    if (!didSomething[method](value)) return value;
    if (isMine && this.#isHit("store", { method, args })) this.#strike();
    this.#report({ type: "store", method });
    return value;
  }

  #isHit(kind, detail) {
    const point = this.#plan?.point;
    if (point === undefined || point.kind !== kind) return false;
    if (kind === "event" && point.type !== detail.type) return false;
    if (kind === "frame" && point.conversationId !== detail.conversationId) return false;
    if (kind === "tool" && point.name !== detail.name) return false;
    if (kind === "store") {
      const { method, args } = detail;
      if (point.method !== method) return false;
      if (point.phase !== undefined && (point.phase === "results") !== args[0].promoteSteers) return false;
      if (point.has !== undefined && !JSON.stringify(args).includes(point.has)) return false;
    }
    this.#left -= 1;
    return this.#left === 0;
  }

  #strike() {
    const plan = this.#plan;
    if (plan === undefined) return;
    this.#plan = undefined;
    this.#reportReached();
    if (plan.signal === "none") return;
    process.kill(process.pid, plan.signal ?? "SIGKILL");
    // Another thread may be the first to get the signal: nothing more happens on this one until it stops too.
    for (const stoppedAt = performance.now(); performance.now() < stoppedAt + 100; );
  }
}

/** Returns the fields of a call that the parent needs. */
function fieldsOf(method, args, value) {
  if (method === "flushJournal") {
    return {
      batches: args[0].map(({ turnId, fence, firstN, count }, index) => ({
        turnId,
        epoch: fence,
        lastN: firstN + count - 1,
        outcome: value?.[index],
      })),
    };
  }
  if (method.startsWith("outbox.") || method === "remove") return {};
  if (method === "claimExpired") return { claimed: value?.map(({ turnId, fence }) => ({ turnId, fence })) };
  const { conversationId, turnId, fence } = args[0];
  return { conversationId, turnId, epoch: fence };
}
