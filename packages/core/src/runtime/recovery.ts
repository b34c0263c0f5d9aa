import type { TurnMetrics, TurnReason } from "@parley/wire";
import { toParleyError } from "../errors.js";
import type { Lease, LogStore, OpenTurnState } from "../log-store.js";
import type { ConversationMessage } from "../messages/message.js";
import {
  argumentsFromText,
  type MessageContentPart,
  resultFromText,
  type ToolCallContentPart,
} from "../messages/part.js";
import { interruptedResult } from "../messages/repair.js";
import type { HistoryEntry } from "../ports.js";
import { stepIdOf } from "../turn/run-step.js";
import type { Tool } from "../turn/tool.js";
import type { Coordinator, TakenTurn } from "./coordinator.js";
import type { Environment } from "./environment.js";
import type { Follower } from "./follower.js";
import { decodeBatch, type NumberedEvent } from "./journal-batch.js";
import { retryWhileUnavailable } from "./retry.js";

const claimsAtOnce = 16;

/**
 * Keeps this node's leases alive and takes over those of nodes that died.
 *
 * The node is alive until a deadline on its own monotonic clock, counted from before each renewal was sent, so it
 * never believes in a lease longer than the store does. When the deadline passes, whatever ran here may belong to
 * someone else: everything is dropped, and once the store answers again the process goes on under a new name and
 * claims what is left like any other node would.
 */
export class Recovery {
  readonly #env: Environment;
  readonly #coordinator: Coordinator;
  readonly #follower: Follower;
  readonly #onStop: (lease: { conversationId: string; turnId: string }) => void;
  #deadline = Number.POSITIVE_INFINITY;
  #cancelRenewal: () => void = () => {};
  #cancelClaim: () => void = () => {};
  #cancelDeadline: () => void = () => {};
  #stopped = false;
  #claiming: Promise<void> | undefined;

  constructor(
    env: Environment,
    coordinator: Coordinator,
    follower: Follower,
    onStop: (lease: { conversationId: string; turnId: string }) => void,
  ) {
    this.#env = env;
    this.#coordinator = coordinator;
    this.#follower = follower;
    this.#onStop = onStop;
    coordinator.alive = () => env.clock.monotonic() < this.#deadline;
  }

  /** The first heartbeat and the first look for orphans; then both in their pace. */
  async start(): Promise<void> {
    await this.#renew();
    await this.claim();
    this.#planRenewal();
    this.#planClaim();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRenewal();
    this.#cancelClaim();
    this.#cancelDeadline();
  }

  /** Looks for leases of dead nodes now. */
  async claim(): Promise<void> {
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined;
    });
    await this.#claiming;
  }

  /** A wake-up for a turn of this node: it may be a stop, which the next heartbeat tells. */
  renewSoon(): void {
    this.#cancelRenewal();
    void this.#renew()
      .catch((error: unknown) => this.#report(error, "heartbeat"))
      .finally(() => this.#planRenewal());
  }

  /** Takes an open lease from its holder and ends its turn: for a stop that nobody obeyed. */
  async seize(owner: string, lease: Lease): Promise<void> {
    const { identity, root } = this.#env;
    const taken = await root.forOwner(owner).takeOver({
      conversationId: lease.conversationId,
      turnId: lease.turnId,
      fence: lease.fence,
      node: identity.node,
    });
    if (taken !== null) await this.#recover(taken);
  }

  #planRenewal(): void {
    if (this.#stopped) return;
    this.#cancelRenewal = this.#env.clock.after(this.#env.lease.renewMs, () => {
      void this.#renew()
        .catch((error: unknown) => this.#report(error, "heartbeat"))
        .finally(() => this.#planRenewal());
    });
  }

  #planClaim(): void {
    if (this.#stopped) return;
    this.#cancelClaim = this.#env.clock.after(this.#env.lease.claimMs, () => {
      void this.claim()
        .catch((error: unknown) => this.#report(error, "claim"))
        .finally(() => this.#planClaim());
    });
  }

  async #renew(): Promise<void> {
    const { clock, identity, lease, root } = this.#env;
    if (clock.monotonic() >= this.#deadline) this.#rename();
    const sentAt = clock.monotonic();
    const stops = await root.heartbeat(identity.node, lease.ttlMs);
    if (this.#stopped) return;
    this.#deadline = sentAt + lease.ttlMs;
    this.#cancelDeadline();
    this.#cancelDeadline = clock.after(Math.max(0, this.#deadline - clock.monotonic()), () => {
      if (clock.monotonic() >= this.#deadline) this.#coordinator.loseAll();
    });
    for (const stop of stops) this.#onStop(stop);
  }

  #rename(): void {
    this.#coordinator.loseAll();
    this.#env.identity.node = `${this.#env.identity.node.split("+")[0]}+${this.#env.ids.next()}`;
  }

  async #claimAll(): Promise<void> {
    const { identity, root } = this.#env;
    if (this.#coordinator.draining || !this.#coordinator.alive()) return;
    for (;;) {
      const leases = await root.claimExpired(identity.node, claimsAtOnce);
      await Promise.all(
        leases.map((lease) =>
          this.#recover(lease).catch((error: unknown) =>
            this.#report(error, "recovery", lease.conversationId),
          ),
        ),
      );
      if (leases.length < claimsAtOnce) return;
    }
  }

  async #recover(lease: Lease): Promise<void> {
    const { root } = this.#env;
    const { owner, conversationId, turnId, fence } = lease;
    const store = root.forOwner(owner);
    if (lease.purpose === "compaction") {
      const next = this.#coordinator.nextTurn(false);
      const ended = await retryWhileUnavailable(this.#env, () =>
        store.endLease({ conversationId, turnId, fence, next }),
      );
      await this.#follower.look(conversationId);
      if (ended.next !== undefined) this.#coordinator.run(owner, conversationId, ended.next);
      this.#env.watchers.changed(owner);
      return;
    }
    const state = await retryWhileUnavailable(this.#env, () => store.readOpenTurn({ conversationId }));
    if (state === null || state.turnId !== turnId || state.fence !== fence) return;
    const events = state.journal.flatMap((batch) => decodeBatch(batch));
    const plan = lease.stopRequested
      ? undefined
      : planToContinue(state, events, this.#env.tools, this.#elapsed(state));
    await this.#follower.look(conversationId);
    if (plan !== undefined) {
      const { choices, entries, startedAt } = state;
      this.#coordinator.run(owner, conversationId, { turnId, fence, choices, entries, startedAt }, plan);
      return;
    }
    await this.#seal(store, lease, state, events);
  }

  async #seal(
    store: LogStore,
    lease: Lease,
    state: OpenTurnState,
    events: readonly NumberedEvent[],
  ): Promise<void> {
    const { owner, conversationId, turnId, fence } = lease;
    const reason: TurnReason = lease.stopRequested ? "aborted" : "interrupted";
    const stepId = uncommittedStep(state, events);
    const metrics: TurnMetrics = {
      turnId,
      usage: sumSteps(state),
      steps: state.steps,
      reason,
      durationMs: this.#elapsed(state),
      ...(state.choices.model === undefined ? {} : { model: state.choices.model }),
      ...contextSizeOf(state),
    };
    const sealed = await retryWhileUnavailable(this.#env, () =>
      store.seal({
        conversationId,
        turnId,
        fence,
        stepId,
        messages: partialMessages(state, events, this.#env),
        reason,
        metrics,
        providerCalls: state.providerCalls,
        next: this.#coordinator.nextTurn(reason === "aborted"),
      }),
    );
    await this.#follower.look(conversationId);
    this.#coordinator.afterRecovery(owner, conversationId, turnId, reason, sealed);
  }

  #elapsed(state: OpenTurnState): number {
    return Math.max(0, this.#env.clock.now() - state.startedAt);
  }

  #report(error: unknown, where: string, conversationId?: string): void {
    this.#env.hooks.onError?.(toParleyError(error), {
      where,
      ...(conversationId === undefined ? {} : { conversationId }),
    });
  }
}

/**
 * How the turn can go on, if it can: no model output is uncommitted, and each call without a result has a tool
 * that may be run again.
 */
export function planToContinue(
  state: OpenTurnState,
  events: readonly NumberedEvent[],
  tools: readonly Tool<never>[],
  elapsedMs: number,
): TakenTurn | undefined {
  const uncommitted = events.some(
    ({ event }) =>
      event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-call",
  );
  if (uncommitted) return undefined;
  const open = openCalls(state);
  const settled = resultMessages(state, events);
  const answered = new Set(settled.map(callIdOf));
  const retryable = new Set(tools.filter((tool) => tool.recovery === "retry").map((tool) => tool.name));
  for (const call of open) {
    if (!answered.has(call.toolCallId ?? "") && !retryable.has(call.name)) return undefined;
  }
  const made = state.entries.filter((_, index) => !isOpeningEntry(state.entries, index));
  return {
    nextN: (events.at(-1)?.n ?? -1) + 1,
    kept: events,
    resume: {
      stepIndex: open.length > 0 ? Math.max(0, state.steps.length - 1) : state.steps.length,
      messages: made.map(({ message }) => message),
      pendingCalls: open,
      settled,
      steps: state.steps,
      providerCalls: state.providerCalls,
      elapsedMs,
    },
  };
}

/** What the turn leaves behind: the partial answer of its journal, and one result for every open call. */
export function partialMessages(
  state: OpenTurnState,
  events: readonly NumberedEvent[],
  env: Pick<Environment, "ids" | "clock">,
): ConversationMessage[] {
  const conversationId = state.journal[0]?.conversationId ?? state.entries[0]?.message.conversationId ?? "";
  const partial = partialAnswer(conversationId, events, env);
  const results = resultMessages(state, events);
  const answered = new Map(results.map((message) => [callIdOf(message), message]));
  const assistant = partial ?? lastAssistant(state.entries)?.message;
  if (assistant === undefined) return [];
  const open = new Set(
    (partial === undefined ? openCalls(state) : callsOf(partial)).map((call) => call.toolCallId),
  );
  const messages: ConversationMessage[] = partial === undefined ? [] : [partial];
  for (const [index, part] of assistant.content.entries()) {
    if (part.type !== "tool-call" || !open.has(part.toolCallId)) continue;
    messages.push(answered.get(part.toolCallId ?? "") ?? interruptedResult(assistant, index));
  }
  return messages;
}

function partialAnswer(
  conversationId: string,
  events: readonly NumberedEvent[],
  env: Pick<Environment, "ids" | "clock">,
): ConversationMessage | undefined {
  const parts = new Map<number, MessageContentPart>();
  let id: string | undefined;
  for (const { event } of events) {
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      const type = event.type === "text-delta" ? "text" : "reasoning";
      const place = event.partIndex ?? 0;
      const part = parts.get(place);
      const before = part?.type === "text" || part?.type === "reasoning" ? part.text : "";
      parts.set(place, { type, text: before + event.delta });
      id ??= event.messageId;
    } else if (event.type === "tool-call") {
      const argumentsText = event.argumentsText ?? JSON.stringify(event.input ?? {});
      parts.set(event.partIndex ?? parts.size, {
        type: "tool-call",
        name: event.toolName,
        toolCallId: event.toolCallId,
        stepId: event.stepId,
        arguments: argumentsFromText(argumentsText),
        argumentsText,
      });
      id ??= event.messageId;
    }
  }
  if (parts.size === 0) return undefined;
  const content = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
  return {
    id: id ?? env.ids.next(),
    conversationId,
    role: "assistant",
    createdAt: new Date(env.clock.now()),
    content,
  };
}

/** Results that the journal holds: they were told, so they stand. */
function resultMessages(state: OpenTurnState, events: readonly NumberedEvent[]): ConversationMessage[] {
  const messages: ConversationMessage[] = [];
  for (const { event } of events) {
    if (event.type !== "tool-result") continue;
    messages.push({
      id: event.messageId ?? `${event.toolCallId}.result`,
      conversationId: event.conversationId,
      role: "tool",
      createdAt: new Date(state.startedAt),
      content: [
        {
          type: "tool-result",
          name: event.toolName,
          toolCallId: event.toolCallId,
          stepId: event.stepId,
          result: resultFromText(event.content),
          resultText: event.content,
          isError: event.isError,
          ...(event.durationMs === undefined ? {} : { durationMs: event.durationMs }),
        },
      ],
    });
  }
  return messages;
}

function lastAssistant(entries: readonly HistoryEntry[]): HistoryEntry | undefined {
  return entries.findLast(({ message }) => message.role === "assistant");
}

/** Calls of the last committed answer that no row answers. */
function openCalls(state: OpenTurnState): ToolCallContentPart[] {
  const assistant = lastAssistant(state.entries);
  if (assistant === undefined) return [];
  const after = state.entries.filter((entry) => (entry.firstSeq ?? 0) > (assistant.lastSeq ?? 0));
  const answered = new Set(
    after.filter(({ message }) => message.role === "tool").map(({ message }) => callIdOf(message)),
  );
  return callsOf(assistant.message).filter((call) => !answered.has(call.toolCallId ?? ""));
}

function callsOf(message: ConversationMessage): ToolCallContentPart[] {
  return message.content.filter((part) => part.type === "tool-call");
}

function callIdOf(message: ConversationMessage): string {
  for (const part of message.content) if (part.type === "tool-result") return part.toolCallId ?? "";
  return "";
}

/** The user messages that opened the turn stand before anything else. */
function isOpeningEntry(entries: readonly HistoryEntry[], index: number): boolean {
  return entries.slice(0, index + 1).every(({ message }) => message.role === "user");
}

function uncommittedStep(state: OpenTurnState, events: readonly NumberedEvent[]): string {
  for (const { event } of events) if ("stepId" in event && event.stepId !== undefined) return event.stepId;
  return stepIdOf(state.turnId, state.steps.length);
}

function sumSteps(state: OpenTurnState): { inputTokens: number; outputTokens: number } {
  let inputTokens = 0;
  let outputTokens = 0;
  for (const { usage } of state.steps) {
    inputTokens += usage.inputTokens;
    outputTokens += usage.outputTokens;
  }
  return { inputTokens, outputTokens };
}

function contextSizeOf(state: OpenTurnState): { contextSize?: number } {
  const usage = state.providerCalls.at(-1)?.usage;
  return usage === undefined ? {} : { contextSize: usage.inputTokens + usage.outputTokens };
}
