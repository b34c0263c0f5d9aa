import { eventTraits, type NumberedEvent, omitUndefined, type TurnEvent } from "@parley/fold";
import type { AgentEvent, TurnReason } from "@parley/wire";
import { ParleyError, toParleyError } from "../../errors.js";
import type { LogStore, NextTurn, OpenedTurn, SealInput, SealResult } from "../../ports/log-store.js";
import { driveTurn } from "../../turn/run-turn.js";
import type { StepCommit, StepCommitted, TurnOutcome, TurnResume } from "../../turn/turn.js";
import { OpenTurn } from "../delivery/open-turn.js";
import { isUnanswered, replayRows } from "../delivery/replay.js";
import type { EventContext, Uses } from "../environment.js";
import { storeParts } from "../files/stored-parts.js";
import { createTurnInputs } from "../input/approvals.js";
import { DecisionFeed } from "../input/decision-feed.js";
import { requestEvents } from "../input/waiting-info.js";
import { isGone } from "../nodes/is-gone.js";
import { retryWhileUnavailable } from "../nodes/retry.js";
import { sealWithLess } from "./seal-with-less.js";
import { factorOf } from "./step-context.js";
import type { TurnSetupUses } from "./turn-setup.js";
import { prepareTurn } from "./turn-setup.js";

/** The parts of the environment that a turn uses. */
export type TurnRunUses = TurnSetupUses &
  Uses<"approvals" | "hooks" | "hub" | "journal" | "lease" | "observe" | "root" | "spending" | "wake">;

/** Reason to stop a turn early. */
export interface Interruption {
  readonly reason: TurnReason;
  readonly error?: ParleyError;
}

/** State from which a turn continues that another node started. */
export interface TakenTurn {
  readonly resume: TurnResume;
  /** Events in the journal: they were published, or may have been, and are not in rows yet. */
  readonly kept: readonly NumberedEvent[];
}

/** The node as one of its turns sees it. */
export interface TurnHost {
  /**
   * Returns false past the node's deadline: it publishes nothing and starts nothing, because its leases may be
   * another's.
   */
  alive(owner: string): boolean;
  draining(): boolean;
  /** Returns true if something before the turn's first seq has not been published here. */
  isBehind(log: number, firstSeq: number): boolean;
  /** Publishes it. */
  catchUpTo(log: number, firstSeq: number): Promise<void>;
  /** Returns what the store needs to open the next turn when a lease ends. */
  nextTurn(pauseQueue: boolean): NextTurn;
  /** Called once, when the turn is lost: if it continues, then on another node. */
  lost(run: TurnRun): void;
  /** Called when the turn is final, synchronously with the publishing of its last rows. */
  sealed(run: TurnRun, reason: TurnReason, sealed: SealResult): void;
}

/**
 * Result of a run. `sealed`: the turn is final. `released`: it is open, and any node may continue it. `waiting`: it
 * is open, and no node holds it until a request is answered. `lost`: it is, or may be, another node's. `broken`:
 * something failed that must not fail, and the turn is open and held by this node.
 */
export type RunEnd =
  | { readonly state: "sealed" }
  | { readonly state: "released" }
  | { readonly state: "waiting" }
  | { readonly state: "lost" }
  | { readonly state: "broken"; readonly error: unknown };

/** Callbacks chained to it run as soon as the running code has ended. */
const nextGo = Promise.resolve();

/**
 * One turn on this node, from where it was opened or taken over to its seal.
 *
 * Everything that the turn writes carries its fence. As long as the store cannot be reached a write is repeated,
 * until it is known to have happened or the turn is lost; stopping the turn does not end this, so that no outcome
 * stays unknown. Once lost, the run does nothing more that is visible outside.
 */
export class TurnRun {
  readonly owner: string;
  readonly live: OpenTurn;
  readonly #env: TurnRunUses;
  readonly #host: TurnHost;
  readonly #store: LogStore;
  readonly #opened: OpenedTurn;
  readonly #taken: TakenTurn | undefined;
  readonly #abort = new AbortController();
  readonly #lost = new AbortController();
  readonly #decisions: DecisionFeed;
  #interruption: Interruption | undefined;
  #hasBegun: boolean;
  #isLost = false;
  /** True if the clock was read in this synchronous run, and this node was alive. */
  #wasAlive = false;
  readonly #endGo = () => {
    this.#wasAlive = false;
  };

  constructor(
    env: TurnRunUses,
    host: TurnHost,
    turn: {
      readonly owner: string;
      readonly conversationId: string;
      readonly opened: OpenedTurn;
      readonly taken?: TakenTurn | undefined;
    },
  ) {
    const { owner, conversationId, opened, taken } = turn;
    const { log, turnId, fence } = opened;
    this.owner = owner;
    this.#env = env;
    this.#host = host;
    this.#store = env.root.forOwner(owner);
    this.#opened = opened;
    this.#taken = taken;
    this.#hasBegun = taken !== undefined;
    this.#decisions = new DecisionFeed({
      read: () => this.#store.readResponses({ conversationId, turnId }),
      clock: env.clock,
      pollMs: env.lease.pollMs,
      onError: (error) => env.report(error, "input", conversationId),
    });
    this.live = new OpenTurn({
      owner,
      conversationId,
      log,
      turnId,
      epoch: fence,
      startedAt: opened.startedAt,
      model: opened.choices.model,
      beforeSeq: 0,
      entries: opened.entries,
      steps: taken?.resume.steps,
      kept: taken?.kept,
      feed: {
        openJournal: (tail) => {
          const writer = env.journal.open({ log, owner, turnId, fence }, tail);
          writer.onFailed = (error) => this.#journalFailed(error);
          return writer;
        },
        audience: () => {
          const audience = env.hub.audience(log);
          return audience !== undefined && this.#mayPublish() ? audience : undefined;
        },
      },
    });
  }

  /** True if subscribers here may have received something of the turn. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** True if the turn is, or may be, another node's: nothing is published or written any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Never rejects. */
  async run(): Promise<RunEnd> {
    try {
      return await this.#work();
    } catch (error) {
      return this.#isLost ? { state: "lost" } : { state: "broken", error };
    }
  }

  /** Handles an answer to a request of the turn. */
  decided(): void {
    this.#decisions.look();
  }

  interrupt(why: Interruption): void {
    this.#interruption ??= why;
    this.#abort.abort();
  }

  /** Marks that the turn is, or may be, another node's. */
  lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#host.lost(this);
    this.interrupt({ reason: "interrupted" });
    this.#lost.abort();
  }

  async #work(): Promise<RunEnd> {
    const env = this.#env;
    const { live, owner } = this;
    const { log } = live;
    if (this.#taken === undefined) {
      const firstSeq = this.#opened.entries[0]?.firstSeq ?? 1;
      if (this.#host.isBehind(log, firstSeq)) {
        await this.#insist(() => this.#host.catchUpTo(log, firstSeq));
      }
      if (!this.#mayAct()) return { state: "lost" };
      this.#hasBegun = true;
      live.publishOpening();
      // It was admitted while the node began to drain: another node can start it.
      if (this.#host.draining()) return this.#release();
    } else this.#emitOpening(this.#taken);
    env.notifyChanged(owner, [live.log], { conversationId: live.conversationId });

    // The time in which the turn waited does not count.
    const { elapsedMs = 0, waitedMs = 0 } = this.#taken?.resume ?? {};
    const limitMs = env.limits.turnDurationMs;
    const cancelDeadline = env.clock.after(Math.max(0, limitMs - (elapsedMs - waitedMs)), () => {
      const error = new ParleyError("timeout", `The turn took longer than ${limitMs} ms`);
      this.interrupt({ reason: "error", error });
    });
    let outcome: TurnOutcome;
    try {
      outcome = await this.#drive();
    } finally {
      cancelDeadline();
    }
    if (this.#isLost) return { state: "lost" };
    if (outcome.state === "waiting") return { state: "waiting" };
    return outcome.state === "released" ? this.#release() : this.#seal(outcome);
  }

  async #drive(): Promise<TurnOutcome> {
    const env = this.#env;
    const { live, owner } = this;
    const { signal } = this.#abort;
    const prepared = await prepareTurn({
      env,
      store: this.#store,
      live,
      opened: this.#opened,
      signal,
      lost: this.#lost,
      mayAct: () => this.#mayAct(),
    });
    return driveTurn(
      {
        conversationId: live.conversationId,
        turnId: live.turnId,
        owner,
        startedAt: live.startedAt,
        clock: env.clock,
        ids: env.ids,
        limits: env.limits,
        keepRaw: env.keepRaw,
        storeFiles: (parts) =>
          retryWhileUnavailable(env, () => storeParts(this.#store, parts, env.fileLimits), { signal }),
        signal,
        abortReason: () => this.#interruption ?? { reason: "aborted" },
        inputs: createTurnInputs(env.approvals, {
          conversationId: live.conversationId,
          turnId: live.turnId,
          fence: live.epoch,
          store: this.#store,
          feed: this.#decisions,
          insist: (call) => this.#insist(call),
          changed: () => env.notifyChanged(owner, [live.log]),
        }),
        sink: {
          draining: () => this.#host.draining(),
          commitStep: (commit) => this.#commit(commit),
        },
        onRetry: ({ code, delayMs }) => {
          const since = env.clock.now();
          live.publishProgress({ activity: "retrying", since, retryAt: since + delayMs, code });
        },
        onCall: (call) =>
          env.spending.made(call, {
            owner,
            conversationId: live.conversationId,
            model: call.modelName ?? live.model ?? "",
            purpose: call.purpose ?? "step",
          }),
        ...prepared,
        ...(this.#taken === undefined ? {} : { resume: this.#taken.resume }),
      },
      // The loop emits neither `status` nor `turn-sealed`.
      (event: AgentEvent) => this.#emit(event as TurnEvent),
    );
  }

  /**
   * Returns true if this node's lease holds, for one more event. Events that come in one synchronous run, such as a
   * burst from the provider, are published on one reading of the clock: no other code runs between them.
   */
  #mayPublish(): boolean {
    return this.#wasAlive || this.#isAlive();
  }

  #isAlive(): boolean {
    if (!this.#host.alive(this.owner)) return false;
    this.#wasAlive = true;
    void nextGo.then(this.#endGo);
    return true;
  }

  /**
   * Returns false, and loses the turn, once this node's lease may have expired. If true, everything that follows may
   * be published.
   */
  #mayAct(): boolean {
    if (!this.#isLost && !this.#isAlive()) this.lose();
    return !this.#isLost;
  }

  /** Repeats a call until its outcome is known, or the turn is lost. */
  #insist<T>(call: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(this.#env, call, this.#lost);
  }

  async #commit(commit: StepCommit): Promise<StepCommitted> {
    const env = this.#env;
    const { live, owner } = this;
    const { conversationId, turnId } = live;
    if (!this.#mayAct()) throw new ParleyError("stale_fence");
    try {
      await live.beforeCommit();
      const result = await this.#insist(() =>
        this.#store.commitStep({
          conversationId,
          turnId,
          fence: live.epoch,
          stepId: commit.stepId,
          messages: [...commit.messages],
          // In a step that waits, the model does not see the results yet.
          promoteSteers: commit.phase === "results" && commit.wait !== true,
          steps: [...commit.steps],
          providerCalls: [...commit.providerCalls],
          ...(commit.inputs === undefined ? {} : { inputs: [...commit.inputs] }),
          ...omitUndefined({ wait: commit.wait }),
        }),
      );
      if (!this.#mayAct()) throw new ParleyError("stale_fence");
      live.commit([...result.entries, ...result.promoted], commit.steps);
      for (const event of requestEvents(live, result.entries, commit.inputs ?? [])) {
        env.observe(event, eventContext(live));
        live.publishStated(event);
      }
      const { waiting, responses } = result;
      if (waiting !== undefined) {
        live.publishWaiting({ turnId, ...waiting });
        const status = { type: "status" as const, conversationId, status: "active" as const };
        env.observe({ ...status, waiting: { turnId, ...waiting } }, eventContext(live));
      }
      const isChange = result.promoted.length > 0 || commit.inputs !== undefined || waiting !== undefined;
      if (isChange) env.notifyChanged(owner, [live.log], { conversationId });
      else env.wake.notify([live.log]);
      if (result.stopRequested) this.interrupt({ reason: "aborted" });
      const steering = result.promoted.map(({ message }) => message);
      return { steering, waiting: waiting !== undefined, responses };
    } catch (error) {
      if (isGone(error)) this.lose();
      throw error;
    }
  }

  async #seal(outcome: TurnOutcome): Promise<RunEnd> {
    const env = this.#env;
    const { live } = this;
    const { conversationId, turnId } = live;
    const { reason, metrics } = outcome;
    const stepId = metrics.steps.at(-1)?.stepId;
    // Made once: a repeated seal is the same seal.
    const input: SealInput = {
      conversationId,
      turnId,
      fence: live.epoch,
      messages: [...outcome.uncommitted],
      reason,
      metrics,
      providerCalls: [...outcome.providerCalls],
      next: this.#host.nextTurn(reason === "aborted" || reason === "error"),
      ...omitUndefined({ stepId }),
    };
    learnFrom(env, this.owner, live.model, outcome);
    if (!this.#mayAct()) return { state: "lost" };
    try {
      await live.beforeCommit();
      const { input: taken, sealed } = await sealWithLess(
        input,
        { id: () => env.ids.next(), now: () => env.clock.now() },
        (each) => this.#insist(() => this.#store.seal(each)),
        (error) => env.report(error, "turn", conversationId),
      );
      // Its end was published, and was not its end: subscribers receive it again as the store has it.
      if (taken.reason !== reason) this.lose();
      if (!this.#mayAct()) {
        // The turn is final, but this node may publish nothing: its subscribers receive the end from the store.
        this.#host.sealed(this, taken.reason, sealed);
        return { state: "lost" };
      }
      // No subscriber can join in between: from here on the turn is read from its rows, and it is over.
      live.commit(sealed.entries, taken.metrics.steps);
      live.verdict = taken.metrics.output;
      this.#host.sealed(this, taken.reason, sealed);
      return { state: "sealed" };
    } catch (error) {
      if (isGone(error)) this.lose();
      throw error;
    }
  }

  async #release(): Promise<RunEnd> {
    const { live } = this;
    const { conversationId, turnId, epoch: fence } = live;
    await live.beforeCommit();
    await this.#insist(() => this.#store.release({ conversationId, turnId, fence }));
    this.#env.wake.notify([live.log]);
    return { state: "released" };
  }

  /** Emits the opening events that the journal of a turn without an answer does not hold. */
  #emitOpening({ kept }: TakenTurn): void {
    const { live } = this;
    if (!isUnanswered(live.entries)) return;
    const known = new Set(kept.map(({ event }) => event.type));
    for (const event of replayRows(live)) if (!known.has(event.type)) this.#emit(event);
  }

  #emit(event: TurnEvent): Promise<void> | undefined {
    const { live } = this;
    if (this.#env.hooks.onEvent !== undefined && !this.#isLost && eventTraits[event.type].observed) {
      this.#env.observe(event, eventContext(live));
    }
    return live.emit(event);
  }

  #journalFailed(error: unknown): void {
    if (isGone(error)) this.lose();
    else this.interrupt({ reason: "error", error: toParleyError(error) });
  }
}

/** Returns the turn of an event, for hooks. */
export function eventContext(
  turn: Pick<OpenTurn, "owner" | "conversationId" | "turnId"> &
    Partial<Pick<OpenTurn, "providerName" | "model">>,
): EventContext {
  const { owner, conversationId, turnId, providerName, model } = turn;
  return {
    owner,
    conversationId,
    turnId,
    ...omitUndefined({ providerName, model }),
  };
}

/**
 * Calibrates the estimator with the provider's counts, and the model's window with the requests that fit or did not.
 */
function learnFrom(env: TurnRunUses, owner: string, model: string | undefined, outcome: TurnOutcome): void {
  const { failedCall, error } = outcome;
  const used = model === undefined ? undefined : env.ownerModels.find(owner, model);
  if (model === undefined || used === undefined) return;
  for (const call of outcome.providerCalls) {
    const { usage, manifest, finishReason } = call;
    if (manifest === undefined) continue;
    const { estimatedTokens: estimated } = manifest;
    if (usage !== undefined) {
      env.tokens.observe(model, { estimated, actual: usage.inputTokens, ...factorOf(manifest) });
    }
    const isAnswered = finishReason !== undefined || usage !== undefined;
    if (!isAnswered || call === failedCall) continue;
    env.ownerModels.succeeded(used, { estimatedTokens: estimated, reportedTokens: usage?.inputTokens });
  }
  const estimatedTokens = failedCall?.manifest?.estimatedTokens;
  if (estimatedTokens !== undefined) env.ownerModels.refused(used, error, estimatedTokens);
}
