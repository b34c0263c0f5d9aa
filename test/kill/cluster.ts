import { setTimeout as sleep } from "node:timers/promises";
import type { LeasePace } from "@parley/core/runtime";
import { expect } from "vitest";
import { Client } from "./client.js";
import { type SentMessage, Viewer } from "./client-record.js";
import type { Work } from "./points.js";
import type { Random } from "./random.js";
import { type KillPlan, type NodeOptions, type NodeStore, Refused, RunningNode } from "./running-node.js";
import { checkTables, type ReadTables } from "./tables.js";
import { verifyConversation } from "./verify.js";

/** Short, so that a take-over does not take long; long enough for a busy machine to renew in time. */
export const shortLease: LeasePace = {
  ttlMs: 1_500,
  renewMs: 400,
  claimMs: 300,
  presenceMs: 500,
  pollMs: 100,
  stopMs: 1_000,
};

/** Time after the end of a dead node's lease that its turns may stay open. */
const graceMs = 2_000;
/** Time that anything else may take, on a machine that is busy with other things. */
const patienceMs = 40_000;

/** One store, the nodes on it and a client of theirs. Every conversation continues through all troubles. */
export class Cluster {
  readonly client: Client;
  conversationId: string;
  readonly nodes: RunningNode[] = [];
  readonly #name: string;
  readonly store: NodeStore;
  readonly #random: Random;
  readonly #readTables: ReadTables | undefined;
  readonly #options: Partial<NodeOptions>;
  #started = 0;

  constructor(options: {
    readonly name: string;
    readonly store: NodeStore;
    readonly random: Random;
    /** Reads the tables while nodes run, if possible. */
    readonly readTables?: ReadTables;
    /** Default options of its nodes. */
    readonly options?: Partial<NodeOptions>;
  }) {
    this.#options = options.options ?? {};
    this.#name = options.name;
    this.store = options.store;
    this.#random = options.random;
    this.#readTables = options.readTables;
    this.client = new Client(`${options.name}.`);
    this.conversationId = `${options.name}.main`;
  }

  async start(options: Partial<NodeOptions> = {}): Promise<RunningNode> {
    this.#started += 1;
    const name = `${this.#name}-node-${this.#started}`;
    const node = await RunningNode.start({
      name,
      store: this.store,
      lease: shortLease,
      ...this.#options,
      ...options,
    });
    this.nodes.push(node);
    this.client.listenTo(node);
    return node;
  }

  get living(): RunningNode[] {
    return this.nodes.filter((node) => node.alive);
  }

  /** Returns the live node, or starts the next one. */
  async single(): Promise<RunningNode> {
    const [living] = this.living;
    if (living !== undefined) return living;
    const node = await this.start();
    this.moveViewers(node);
    return node;
  }

  /** Returns two nodes with a view each; a new one continues where the view of a dead one ended. */
  async pair(options: readonly Partial<NodeOptions>[] = []): Promise<[RunningNode, RunningNode]> {
    while (this.living.length < 2) {
      const node = await this.start(options[this.living.length] ?? {});
      const { viewers } = this.client.record;
      if (viewers.some((viewer) => this.client.nodeOf(viewer) === undefined)) this.moveViewers(node);
      else if (viewers.length < 2) await this.watch(node);
      else this.#share(node);
    }
    return this.living as [RunningNode, RunningNode];
  }

  /** Starts another conversation, so that a long test does not check everything again and again. */
  async beginConversation(node: RunningNode): Promise<void> {
    this.conversationId = this.client.id("main");
    this.client.record.forks.clear();
    this.client.record.viewers.length = 0;
    await this.watch(node);
    await this.nextTurn(node);
  }

  /** Returns a view that follows this node. */
  viewerAt(node: RunningNode): Viewer {
    const viewer = this.client.record.viewers.find((each) => this.client.nodeOf(each) === node);
    if (viewer === undefined) throw new Error(`no viewer is connected to ${node.name}`);
    return viewer;
  }

  /** Reads the events of the main conversation on a node, without a cursor: a view with one takes rows instead. */
  readEventsAt(node: RunningNode): Viewer {
    const { conversationId } = this.viewerAt(node);
    const reader = new Viewer(conversationId);
    node.attach(conversationId, undefined, { onFrame: (frame) => reader.take(frame), onEnd: () => {} });
    return reader;
  }

  /** Continues the views of dead nodes at another one, from their positions. */
  moveViewers(node: RunningNode): void {
    for (const viewer of this.client.record.viewers) {
      if (this.client.nodeOf(viewer) === undefined) this.client.follow(node, viewer);
    }
  }

  /** Returns a view of the main conversation, on a node. */
  async watch(node: RunningNode): Promise<Viewer> {
    await node.create(this.conversationId);
    const viewer = this.client.record.view(this.conversationId);
    this.client.follow(node, viewer);
    return viewer;
  }

  /** Lets the client work until the node has reached its point and is dead. */
  async killAt(node: RunningNode, plan: KillPlan, work: Work): Promise<SentMessage | undefined> {
    await node.arm(plan);
    const worked = work(this.client, node, this.conversationId);
    await within(Promise.all([node.gone, worked]), "the node reaches its point");
    return worked;
  }

  /** Lets the client work, at that node or a busy other one, and kills the node in the middle of it. */
  async killAfter(node: RunningNode, ms: number, work: Work, busy = node): Promise<void> {
    const worked = work(this.client, busy, this.conversationId);
    await sleepMs(ms);
    await node.kill();
    await worked;
  }

  /** Lets the client work until the node is suspended at its point, and waits until its lease is over. */
  async freezeAt(
    node: RunningNode,
    point: KillPlan["point"],
    work: Work,
  ): Promise<{ readonly worked: Promise<SentMessage | undefined> }> {
    await node.arm({ point, signal: "SIGSTOP" });
    const worked = work(this.client, node, this.conversationId);
    await within(node.reached(), "the node falls asleep");
    await sleep(shortLease.ttlMs);
    return { worked };
  }

  /**
   * Recovers from a death: another node, or the next one, takes over in time; unanswered requests are repeated; and
   * when nothing runs any more, everything agrees with the record.
   */
  async recover(node: RunningNode, dead?: RunningNode): Promise<void> {
    if (dead !== undefined) await this.takenOver(node, dead);
    await this.client.settleUnknown(node);
    await this.settle(node);
    await this.verify(node);
  }

  /** Waits until a dead or suspended node holds nothing any more, no longer than that may take. */
  async takenOver(node: RunningNode, dead: RunningNode): Promise<void> {
    const readyAt = performance.now();
    const isHeld = async (conversationId: string) => {
      const holder = (await node.record(conversationId))?.active?.node;
      return holder === dead.name || holder?.startsWith(`${dead.name}+`) === true;
    };
    // On PGlite the leases of the dead are gone when the folder opens again.
    const ttlMs = "folder" in this.store ? 0 : shortLease.ttlMs;
    const limitAt = Math.max((dead.goneAt ?? 0) + ttlMs, readyAt) + graceMs;
    for (const conversationId of this.#conversations()) {
      while (await isHeld(conversationId)) {
        if (performance.now() > limitAt)
          throw new Error(`${conversationId} stays with ${dead.name}, which is dead`);
        await sleep(20);
      }
    }
  }

  /** Waits until nothing runs and nothing waits. */
  async settle(node: RunningNode): Promise<void> {
    for (const conversationId of this.#conversations()) {
      let seen: unknown;
      const isAtRest = async () => {
        const record = await node.record(conversationId);
        const { active, queue = [], queuePaused } = record ?? {};
        seen = { active, waiting: queue.map(({ id, mode }) => `${mode} ${id}`), queuePaused };
        if (record === null || active !== undefined) return false;
        if (queuePaused) await node.resumeQueue(conversationId);
        return queue.length === 0;
      };
      await until(isAtRest, `${conversationId} comes to rest`).catch((error: Error) => {
        const reports = node.reports.slice(-12).map((report) => JSON.stringify(report));
        throw new Error(`${error.message}: ${JSON.stringify(seen)}\n${reports.join("\n")}`);
      });
    }
    // Followers receive it a little later.
    for (const viewer of this.client.record.viewers) {
      const record = await node.record(viewer.conversationId);
      await until(() => {
        const { cursor, status } = viewer.fold.state;
        return cursor?.split(".")[0] === String(record?.lastSeq ?? 0) && status === "idle";
      }, `a viewer of ${viewer.conversationId} sees the end, seq ${record?.lastSeq}: ${viewer.cursor}`).catch(
        (error: Error) => {
          throw new Error(
            `${error.message}, but is at ${viewer.cursor} and sees "${viewer.fold.state.status}"`,
          );
        },
      );
    }
  }

  async verify(node: RunningNode): Promise<void> {
    const problems = await this.client.checkReceipts(node, 3);
    for (const conversationId of this.#conversations()) {
      problems.push(...(await verifyConversation(this.client.record, node, conversationId, this.#random)));
    }
    if (this.#readTables !== undefined) problems.push(...(await checkTables(this.#readTables)));
    expect(problems).toEqual([]);
  }

  /** Plays a turn from its beginning to its end. */
  async nextTurn(node: RunningNode): Promise<void> {
    const message = await this.client.say(node, this.conversationId, "retry");
    const turnId = message.receipt?.turnId;
    if (turnId === undefined) throw new Error(`the next turn did not start: ${JSON.stringify(message)}`);
    await this.settle(node);
    const { reason, chunks } = await node.turn(this.conversationId, turnId);
    expect([reason, chunks.at(-1)?.role]).toEqual(["stop", "assistant"]);
  }

  /** Returns the reason with which a message's turn ended. */
  async reasonOf(node: RunningNode, { messageId }: SentMessage): Promise<string | undefined> {
    const chunks = await node.history(this.conversationId);
    const turnId = chunks.find((chunk) => chunk.messageId === messageId)?.turnId;
    return turnId === undefined ? undefined : (await node.turn(this.conversationId, turnId)).reason;
  }

  /** Ends all processes, in order if possible. */
  async end(): Promise<void> {
    for (const node of this.nodes) if (node.alive) await node.kill();
  }

  /** Moves one of two views at the same node to another. */
  #share(node: RunningNode): void {
    const { viewers } = this.client.record;
    const looked = viewers.map((viewer) => this.client.nodeOf(viewer));
    const moving = viewers.findLast((_, index) => looked.indexOf(looked[index]) !== index) ?? viewers.at(-1);
    if (moving !== undefined) this.client.follow(node, moving);
  }

  #conversations(): string[] {
    const { forks } = this.client.record;
    return [this.conversationId, ...[...forks].flatMap(([id, { isKnown }]) => (isKnown ? [id] : []))];
  }
}

/** Lets time pass: for moments that nothing announces, and for leases that run out. */
export async function sleepMs(ms: number): Promise<void> {
  await sleep(ms);
}

/** Rejects with a description when something takes longer than it may. */
export async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const abort = new AbortController();
  const late = sleep(patienceMs, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`not within ${patienceMs} ms: ${what}`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    abort.abort();
    late.catch(() => {});
  }
}

/** Checks until it is so, also while the store is away. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const limitAt = performance.now() + patienceMs;
  const ask = async () => {
    try {
      return await isSo();
    } catch (error) {
      if (error instanceof Refused && error.code === "store_unavailable") return false;
      throw error;
    }
  };
  while (!(await ask())) {
    if (performance.now() > limitAt) throw new Error(`not within ${patienceMs} ms: ${what}`);
    await sleep(20);
  }
}
