import { sealedEvent } from "@parley/fold";
import type { TurnOutput, TurnReason } from "@parley/wire";
import type { Lease, NextTurn, OpenedTurn, SealResult } from "../../ports/log-store.js";
import { checkOfLast } from "../delivery/cursor.js";
import type { Follower } from "../delivery/follower.js";
import type { OpenTurn } from "../delivery/open-turn.js";
import type { Uses } from "../environment.js";
import { defaultModelOf } from "../models.js";
import type { LeaseEvents } from "../nodes/lease-events.js";
import type { RunningTurns } from "./running-turns.js";
import type { TitleUses } from "./title.js";
import { Titles } from "./title.js";
import type { TurnRunUses } from "./turn-run.js";
import {
  eventContext,
  type Interruption,
  type RunEnd,
  type TakenTurn,
  type TurnHost,
  TurnRun,
} from "./turn-run.js";

/** The parts of the environment that the coordinator and its turns use. */
export type CoordinatorUses = TurnRunUses & TitleUses & Uses<"identity">;

/**
 * Runs turns, at most one per conversation, each from an opened turn to its seal and on to the turn that the seal
 * opened. Four operations: `run` starts one, `interrupt` stops one early, `active` returns what runs, `drain` lets
 * every turn finish its step and release its lease.
 *
 * A turn leaves this node in one of five ways. Sealed: its end is published, and the next one starts. Released: it is
 * open, and subscribers follow it in the store from then on. Waiting: the same, until a request is answered. Lost:
 * the same, without a call to the store, because the turn may be another node's. Broken: something failed that must
 * not fail; recovery ends the turn from its state in the store, so that no conversation stays held by a node that
 * does not run it.
 */
export class Coordinator {
  readonly #env: CoordinatorUses;
  readonly #follower: Follower;
  readonly #host: TurnHost;
  readonly #running: RunningTurns;
  readonly #leases: Pick<LeaseEvents, "broken">;
  readonly #titles: Titles;
  #draining = false;
  /**
   * Returns false past the node's deadline: it publishes nothing and starts nothing, because its leases may be
   * another's. With an owner: whether the leases of that owner hold.
   */
  readonly alive: (owner?: string) => boolean;

  constructor(
    env: CoordinatorUses,
    options: {
      readonly running: RunningTurns;
      readonly follower: Follower;
      readonly leases: Pick<LeaseEvents, "broken" | "unheld">;
      readonly alive: (owner?: string) => boolean;
    },
  ) {
    const { follower, alive, leases } = options;
    this.#env = env;
    this.#running = options.running;
    this.#follower = follower;
    this.#leases = leases;
    this.#titles = new Titles(env);
    this.alive = alive;
    this.#host = {
      alive,
      draining: () => this.#draining,
      isBehind: (log, firstSeq) => follower.isBehind(log, firstSeq),
      catchUpTo: (log, firstSeq) => follower.catchUpTo(log, firstSeq),
      nextTurn: (pauseQueue) => this.nextTurn(pauseQueue),
      lost: ({ live, owner, hasBegun }) => {
        live.leave(true);
        const { conversationId, turnId } = live;
        if (alive() && !alive(owner)) leases.unheld(owner, conversationId, turnId);
        if (hasBegun) follower.resume(live);
        // Nothing of it was published here: subscribers receive all of it as another node's turn.
        else void follower.look(live.log);
      },
      sealed: ({ live, owner, isLost }, reason, sealed) => {
        const { conversationId, log, turnId } = live;
        const { next, ...ended } = sealed;
        // A turn that opened under a name that may be dead is left to any node that claims it.
        const isOurs = !isLost && next !== undefined;
        if (!isLost) this.#publishSealed(live, reason, sealed);
        const { providerName, model } = live;
        const { output } = live;
        const turn = { owner, conversationId, log, turnId, providerName, model, output };
        this.afterSeal(turn, reason, isOurs ? { ...ended, next } : ended);
      },
    };
  }

  get size(): number {
    return this.#running.size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  sizeOf(owner: string): number {
    return this.#running.sizeOf(owner);
  }

  /** Returns the turn that runs here, unless it is lost. */
  active(log: number): OpenTurn | undefined {
    return this.#running.active(log);
  }

  /** Starts a turn that this node holds. Never throws: every failure ends in the turn's own seal. */
  run(owner: string, conversationId: string, opened: OpenedTurn, taken?: TakenTurn): void {
    const before = this.#running.get(opened.log)?.run;
    if (before?.live.turnId === opened.turnId && before.live.epoch === opened.fence) return;
    if (this.#running.hasRun(opened)) return;
    // The store has assigned the conversation's lease again, so the old one is invalid.
    before?.lose();
    const run = new TurnRun(this.#env, this.#host, { owner, conversationId, opened, taken });
    const { live } = run;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#running.add({ run, ended });
    run
      .run()
      .then((result) => {
        this.#running.remove(live);
        this.#leave(run, result);
      })
      .catch((error: unknown) => this.#env.report(error, "turn", conversationId))
      .finally(end);
  }

  /** Stops a turn of this node early. Resolves when it is sealed; false if it does not run here. */
  async interrupt(log: number, turnId: string | undefined, why: Interruption): Promise<boolean> {
    const running = this.#running.get(log);
    if (running === undefined || (turnId !== undefined && running.run.live.turnId !== turnId)) return false;
    running.run.interrupt(why);
    await running.ended;
    return true;
  }

  /** Resolves when nothing runs here any more; turns release their leases after their step. */
  async drain(deadlineMs: number): Promise<void> {
    this.#draining = true;
    if (deadlineMs > 0) {
      let cancel = () => {};
      const deadline = new Promise<void>((resolve) => {
        cancel = this.#env.clock.after(deadlineMs, resolve);
      });
      await Promise.race([this.#running.allEnded(), deadline]);
      cancel();
    }
    for (const { run } of this.#running.all()) run.interrupt({ reason: "interrupted" });
    await this.#running.allEnded();
    await this.#titles.stop();
  }

  /** Drops all turns: the node lost contact with the store for too long, so they may be another's. */
  loseAll(): void {
    for (const { run } of this.#running.all()) run.lose();
  }

  /** Handles an answer to a request of a turn that may run here. */
  decided(log: number): void {
    this.#running.get(log)?.run.decided();
  }

  /** Drops the turn of a conversation that is gone, or whose turn another node holds. */
  lose(log: number): void {
    this.#running.get(log)?.run.lose();
  }

  /** Returns what the store needs to open the next turn when a lease ends. */
  nextTurn(pauseQueue: boolean): NextTurn {
    const { identity, ids, models } = this.#env;
    return {
      node: identity.node,
      turnId: ids.next(),
      pauseQueue,
      openNext: !this.#draining && this.alive(),
      ...defaultModelOf(models),
    };
  }

  /** Follows up on a seal that has been published: the next turn, the watchers, the hook. */
  afterSeal(
    turn: Parameters<typeof eventContext>[0] & {
      readonly log: number;
      readonly output?: TurnOutput | undefined;
    },
    reason: TurnReason,
    sealed: SealResult,
  ): void {
    const env = this.#env;
    const { owner, conversationId, turnId } = turn;
    const { firstSeq, lastSeq } = sealed;
    const { output } = turn;
    env.observe(
      sealedEvent({ conversationId, turnId, firstSeq, lastSeq, reason, output }),
      eventContext(turn),
    );
    env.notifyChanged(owner, [turn.log], { conversationId });
    if (sealed.next !== undefined) this.run(owner, conversationId, sealed.next);
    const ended = { owner, conversationId, turnId, reason, firstSeq, lastSeq };
    this.#titles.afterTurn(ended);
    if (env.hooks.afterTurn !== undefined) {
      Promise.resolve()
        .then(() => env.hooks.afterTurn?.(ended))
        .catch((error: unknown) => env.report(error, "afterTurn", conversationId));
    }
  }

  #leave(run: TurnRun, end: RunEnd): void {
    const { live, owner } = run;
    const { conversationId, log, turnId, epoch: fence } = live;
    if (end.state === "sealed" || end.state === "lost") return;
    live.leave(end.state === "broken");
    this.#follower.resume(live);
    if (end.state !== "broken") return;
    this.#env.report(end.error, "turn", conversationId);
    const lease: Lease = { owner, conversationId, log, turnId, fence, purpose: "turn", stopRequested: false };
    this.#leases.broken(lease);
  }

  #publishSealed(live: OpenTurn, reason: TurnReason, sealed: SealResult): void {
    this.#running.remove(live);
    const place = { seq: sealed.lastSeq, check: checkOfLast(live.entries) };
    this.#follower.published(live.log, place);
    live.publishSealed(reason, sealed);
  }
}
