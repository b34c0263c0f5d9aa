import type { AgentEvent, TurnReason } from "@parley/wire";
import { isParleyError, ParleyError, toParleyError } from "../errors.js";
import type { PreviousCall } from "../history/history-builder.js";
import type {
  ConversationRecord,
  LogStore,
  NextTurn,
  OpenedTurn,
  SealInput,
  SealResult,
} from "../log-store.js";
import type { HistoryEntry, ProviderAdapter } from "../ports.js";
import { runTurn } from "../turn/run-turn.js";
import type { Tool } from "../turn/tool.js";
import { toolDefinition } from "../turn/tool.js";
import type { StepCommit, StepCommitted, TurnOutcome, TurnResume, TurnSetup } from "../turn/turn.js";
import { compactInTurn } from "./compact-in-turn.js";
import { formatCursor } from "./cursor.js";
import type { Environment } from "./environment.js";
import type { NumberedEvent } from "./journal-batch.js";
import { LiveTurn } from "./live-turn.js";
import type { ModelBinding } from "./models.js";
import { recallTool } from "./recall.js";
import { replayTurn } from "./replay.js";
import { retryWhileUnavailable } from "./retry.js";
import { buildStepContext } from "./step-context.js";
import { titleConversation } from "./title.js";

/** Why a turn is cut short. */
export interface Interruption {
  readonly reason: TurnReason;
  readonly error?: ParleyError;
}

interface RunningTurn {
  readonly owner: string;
  readonly live: LiveTurn;
  readonly abort: AbortController;
  interruption: Interruption | undefined;
  /** The model's name, under which its token counts are learned. */
  model: string | undefined;
  readonly ended: Promise<void>;
}

/** How a turn goes on that another node began. */
export interface TakenTurn {
  readonly resume: TurnResume;
  /** Where the numbers of its events go on. */
  readonly nextN: number;
  /** Events in the journal: they were told, or may have been, and are not in rows yet. */
  readonly kept: readonly NumberedEvent[];
}

/**
 * Runs turns, at most one per conversation, each from an opened turn to its seal and on to the turn that the
 * seal opened. Four verbs: `run` starts one, `interrupt` cuts one short, `active` tells what runs, `drain` lets
 * every turn finish its step and give its lease back.
 */
export class Coordinator {
  readonly #env: Environment;
  readonly #running = new Map<string, RunningTurn>();
  readonly #onSettled: (conversationId: string, seq: number) => void;
  #draining = false;
  /** Past its deadline a node publishes nothing and starts nothing: its leases may be another's. */
  alive: () => boolean = () => true;

  constructor(env: Environment, onSettled: (conversationId: string, seq: number) => void) {
    this.#env = env;
    this.#onSettled = onSettled;
  }

  get size(): number {
    return this.#running.size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  sizeOf(owner: string): number {
    let count = 0;
    for (const running of this.#running.values()) if (running.owner === owner) count += 1;
    return count;
  }

  active(conversationId: string): LiveTurn | undefined {
    return this.#running.get(conversationId)?.live;
  }

  /** Starts a turn that this node holds. Never throws: whatever goes wrong ends in the turn's own seal. */
  run(owner: string, conversationId: string, opened: OpenedTurn, taken?: TakenTurn): void {
    const env = this.#env;
    const writer = env.journal.open({ conversationId, turnId: opened.turnId, fence: opened.fence });
    const live = new LiveTurn({
      owner,
      conversationId,
      opened,
      model: opened.choices.model,
      writer,
      publish: (frame) => {
        if (this.alive()) env.hub.publish(conversationId, frame);
      },
      ...(taken === undefined ? {} : { from: { n: taken.nextN, steps: taken.resume.steps ?? [] } }),
    });
    const abort = new AbortController();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const running: RunningTurn = { owner, live, abort, interruption: undefined, model: undefined, ended };
    writer.onLost = () => this.#lose(running);
    this.#running.set(conversationId, running);
    this.#onSettled(conversationId, live.committedSeq);
    this.#work(running, opened, taken)
      .catch((error: unknown) => this.#report(error, "turn", conversationId))
      .finally(() => {
        if (this.#running.get(conversationId) === running) this.#running.delete(conversationId);
        this.#onSettled(conversationId, live.committedSeq);
        end();
      });
  }

  /** Cuts a turn of this node short. Resolves when it is sealed; false when it does not run here. */
  async interrupt(conversationId: string, turnId: string | undefined, why: Interruption): Promise<boolean> {
    const running = this.#running.get(conversationId);
    if (running === undefined || (turnId !== undefined && running.live.turnId !== turnId)) return false;
    running.interruption ??= why;
    running.abort.abort();
    await running.ended;
    return true;
  }

  /** Resolves when nothing runs here any more; turns give their leases back after their step. */
  async drain(deadlineMs: number): Promise<void> {
    this.#draining = true;
    const all = () => Promise.all([...this.#running.values()].map(({ ended }) => ended));
    let cancel = () => {};
    const deadline = new Promise<void>((resolve) => {
      cancel = this.#env.clock.after(deadlineMs, resolve);
    });
    await Promise.race([all(), deadline]);
    cancel();
    for (const [conversationId] of this.#running) {
      void this.interrupt(conversationId, undefined, { reason: "interrupted" });
    }
    await all();
  }

  /** The node lost touch with the store for too long: all its turns may be another's. */
  loseAll(): void {
    for (const running of this.#running.values()) this.#lose(running);
  }

  #lose(running: RunningTurn): void {
    running.live.lost = true;
    running.interruption ??= { reason: "interrupted" };
    running.abort.abort();
  }

  async #work(running: RunningTurn, opened: OpenedTurn, taken: TakenTurn | undefined): Promise<void> {
    const env = this.#env;
    const { owner, live } = running;
    const { conversationId } = live;
    const store = env.root.forOwner(owner);
    if (taken === undefined) {
      this.#status(conversationId, "active", (opened.entries[0]?.firstSeq ?? 1) - 1);
      live.publishChunks(opened.entries);
    } else {
      env.hub.publish(conversationId, { type: "chat.reset", conversationId, turnId: live.turnId });
      for (const { n, event } of taken.kept) live.recall(n, event);
      const unopened = opened.entries.every(({ message }) => message.role === "user");
      if (unopened && taken.kept.length === 0) for (const event of replayTurn(live)) live.emit(event);
    }
    env.watchers.changed(owner);
    env.wake.notify([conversationId]);

    const cancelDeadline = env.clock.after(env.limits.turnDurationMs, () => {
      const error = new ParleyError("timeout", `The turn took longer than ${env.limits.turnDurationMs} ms`);
      running.interruption ??= { reason: "error", error };
      running.abort.abort();
    });
    let outcome: TurnOutcome;
    try {
      const setup = await this.#setUp(running, store, opened, taken);
      const events = runTurn(setup);
      let step = await events.next();
      while (!step.done) {
        const waiting = live.emit(
          step.value as Exclude<AgentEvent, { type: "status" } | { type: "turn-sealed" }>,
        );
        if (waiting !== undefined) await waiting;
        step = await events.next();
      }
      outcome = step.value;
    } finally {
      cancelDeadline();
    }
    if (live.lost) return;
    if (outcome.state === "released") {
      await live.beforeCommit().catch(() => {});
      await store
        .release({ conversationId, turnId: live.turnId, fence: live.epoch })
        .catch((error: unknown) => this.#report(error, "release", conversationId));
      env.wake.notify([conversationId]);
      return;
    }
    await this.#seal(running, store, outcome);
  }

  async #setUp(
    running: RunningTurn,
    store: LogStore,
    opened: OpenedTurn,
    taken: TakenTurn | undefined,
  ): Promise<TurnSetup> {
    const env = this.#env;
    const { live, owner, abort } = running;
    const { conversationId, turnId } = live;
    let record = await retryWhileUnavailable(env, () => store.get(conversationId), abort.signal);
    const binding =
      record === null ? failingModel(new ParleyError("conversation_not_found")) : this.#model(record, opened);
    running.model = binding.name;
    const instructions = opened.choices.instructions ?? record?.instructions ?? env.instructions;
    const effort = opened.choices.reasoningEffort ?? record?.reasoningEffort ?? env.reasoningEffort;
    const tools: Tool<never>[] = [...env.tools];
    if (record?.compactedFrom !== undefined) tools.push(recallTool(store, conversationId) as Tool<never>);
    const definitions = tools.map(toolDefinition);
    const userMessages = opened.entries.filter(
      (entry) => entry.message.role === "user" && isOpening(entry, opened),
    );
    let previous = await this.#previousCall(store, record);
    return {
      conversationId,
      turnId,
      owner,
      provider: binding.provider,
      model: binding.name,
      providerParams: {
        metadata: { provider: binding.providerName, model: binding.model },
        reasoningEffort: effort,
        cacheKey: conversationId,
        ...(binding.maxOutputTokens === undefined ? {} : { maxTokens: binding.maxOutputTokens }),
        ...(binding.extraParams === undefined ? {} : { extraParams: binding.extraParams }),
      },
      tools,
      userMessages: userMessages.map(({ message }) => message),
      clock: env.clock,
      ids: env.ids,
      limits: env.limits,
      signal: abort.signal,
      abortReason: () => running.interruption ?? { reason: "aborted" },
      keepRaw: env.keepRaw,
      ...(taken === undefined ? {} : { resume: taken.resume }),
      context: async ({ stepIndex, stepId, turnMessages }) => {
        if (record === null) throw new ParleyError("conversation_not_found");
        const request = { env, store, binding, instructions, tools: definitions, turnMessages, previous };
        const own = userMessages.map(({ message }) => message);
        let context = await buildStepContext({ ...request, record, userMessages: own });
        const compacted = await compactInTurn({
          env,
          store,
          record,
          binding,
          context,
          live,
          stepIndex,
          stepId,
          signal: abort.signal,
          always: new Set(own.map(({ id }) => id)),
        });
        if (compacted) {
          record = (await store.get(conversationId)) ?? record;
          context = await buildStepContext({ ...request, record, userMessages: own });
        }
        if (context.manifest !== undefined) previous = { manifest: context.manifest, model: binding.name };
        return context;
      },
      sink: {
        draining: () => this.#draining,
        commitStep: (commit) => this.#commit(running, store, commit),
      },
    };
  }

  #model(record: ConversationRecord, opened: OpenedTurn): ModelBinding {
    try {
      return this.#env.models.resolve(opened.choices.model ?? record.model);
    } catch (error) {
      return failingModel(toParleyError(error));
    }
  }

  async #previousCall(store: LogStore, record: ConversationRecord | null): Promise<PreviousCall | undefined> {
    if (record === null) return undefined;
    const last = await store.lastCall(record.id);
    return last?.manifest === undefined ? undefined : { manifest: last.manifest, model: last.metadata.model };
  }

  async #commit(running: RunningTurn, store: LogStore, commit: StepCommit): Promise<StepCommitted> {
    const env = this.#env;
    const { live, owner } = running;
    const { conversationId, turnId } = live;
    if (live.lost || !this.alive()) throw new ParleyError("stale_fence");
    await live.beforeCommit();
    const result = await retryWhileUnavailable(
      env,
      () =>
        store.commitStep({
          conversationId,
          turnId,
          fence: live.epoch,
          stepId: commit.stepId,
          messages: [...commit.messages],
          promoteSteers: commit.phase === "results",
          steps: [...commit.steps],
          providerCalls: [...commit.providerCalls],
        }),
      running.abort.signal,
    ).catch((error: unknown) => {
      if (isParleyError(error) && error.code === "stale_fence") this.#lose(running);
      throw error;
    });
    live.committed([...result.entries, ...result.promoted], commit.steps);
    if (result.promoted.length > 0) env.watchers.changed(owner);
    env.wake.notify([conversationId]);
    if (result.stopRequested) {
      running.interruption ??= { reason: "aborted" };
      running.abort.abort();
    }
    return { steering: result.promoted.map(({ message }) => message) };
  }

  async #seal(running: RunningTurn, store: LogStore, outcome: TurnOutcome): Promise<void> {
    const env = this.#env;
    const { live, owner } = running;
    const { conversationId, turnId } = live;
    const stepId = outcome.metrics.steps.at(-1)?.stepId;
    const input: SealInput = {
      conversationId,
      turnId,
      fence: live.epoch,
      messages: [...outcome.uncommitted],
      reason: outcome.reason,
      metrics: outcome.metrics,
      providerCalls: [...outcome.providerCalls],
      next: this.nextTurn(outcome.reason === "aborted" || outcome.reason === "error"),
      ...(stepId === undefined ? {} : { stepId }),
    };
    observeUsage(env, running.model, outcome);
    let sealed: SealResult;
    try {
      await live.beforeCommit();
      sealed = await retryWhileUnavailable(env, () => store.seal(input));
    } catch (error) {
      live.lost = true;
      this.#report(error, "seal", conversationId);
      return;
    }
    live.committed(sealed.entries, outcome.metrics.steps);
    this.#running.delete(conversationId);
    this.#afterSeal(owner, conversationId, turnId, outcome.reason, sealed);
  }

  /** What the store needs to know to open the next turn when a lease ends. */
  nextTurn(pauseQueue: boolean): NextTurn {
    const { identity, ids } = this.#env;
    return { node: identity.node, turnId: ids.next(), pauseQueue, openNext: !this.#draining && this.alive() };
  }

  /** Tells of a seal, and goes on. */
  #afterSeal(
    owner: string,
    conversationId: string,
    turnId: string,
    reason: TurnReason,
    sealed: SealResult,
  ): void {
    const { firstSeq, lastSeq } = sealed;
    this.#onSettled(conversationId, lastSeq);
    this.#env.hub.publish(conversationId, {
      type: "chat.delta",
      event: { type: "turn-sealed", conversationId, turnId, firstSeq, lastSeq, reason },
      cursor: formatCursor(lastSeq),
    });
    if (sealed.next === undefined) this.#status(conversationId, sealed.status, lastSeq);
    this.afterRecovery(owner, conversationId, turnId, reason, sealed);
  }

  /** After a seal that subscribers have been told of: the next turn, the watchers, the hook. */
  afterRecovery(
    owner: string,
    conversationId: string,
    turnId: string,
    reason: TurnReason,
    sealed: SealResult,
  ): void {
    const env = this.#env;
    const { firstSeq, lastSeq } = sealed;
    env.watchers.changed(owner);
    env.wake.notify([conversationId]);
    if (sealed.next !== undefined) this.run(owner, conversationId, sealed.next);
    const turn = { owner, conversationId, turnId, reason, firstSeq, lastSeq };
    titleConversation(env, turn).catch((error: unknown) => this.#report(error, "title", conversationId));
    Promise.resolve()
      .then(() => env.hooks.afterTurn?.(turn))
      .catch((error: unknown) => this.#report(error, "afterTurn", conversationId));
  }

  #status(conversationId: string, status: string, seq: number): void {
    this.#env.hub.publish(conversationId, {
      type: "chat.delta",
      event: { type: "status", conversationId, status },
      cursor: formatCursor(seq),
    });
  }

  #report(error: unknown, where: string, conversationId: string): void {
    this.#env.hooks.onError?.(toParleyError(error), { where, conversationId });
  }
}

/** The messages that opened the turn, as opposed to steering that a commit added later. */
function isOpening(entry: HistoryEntry, opened: OpenedTurn): boolean {
  const firstAnswer = opened.entries.find(({ message }) => message.role !== "user");
  return firstAnswer === undefined || (entry.lastSeq ?? 0) < (firstAnswer.firstSeq ?? 0);
}

/** A model that is not there fails like one that is down: as the turn's own error, in its own log. */
function failingModel(error: ParleyError): ModelBinding {
  const provider: ProviderAdapter = { complete: () => Promise.reject(error) };
  return { name: "", provider, providerName: "", model: "", contextWindow: 128_000 };
}

/** What the provider counted teaches the estimator. */
function observeUsage(env: Environment, model: string | undefined, outcome: TurnOutcome): void {
  for (const { usage, manifest } of outcome.providerCalls) {
    if (model === undefined || usage === undefined || manifest === undefined) continue;
    env.tokens.observe(model, { estimated: manifest.estimatedTokens, actual: usage.inputTokens });
  }
}
