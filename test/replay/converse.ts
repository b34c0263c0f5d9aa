import { type Clock, systemClock, type Tool } from "@parley/core";
import type { ConversationMessage, MessageContentPart } from "@parley/core/messages";
import { runTurn, type TurnOutcome } from "@parley/core/turn";
import { createCountingIds } from "@parley/testing";
import type { InputRequestEntry, InputResponseEntry } from "@parley/wire";
import { type ConversationLog, shown } from "./conversation-log.js";
import type { ProviderEndpoint } from "./provider-endpoint.js";

/** One turn of a conversation. */
export interface TurnPlan {
  readonly endpoint: ProviderEndpoint;
  readonly model: string;
  readonly asked: readonly MessageContentPart[];
  readonly tools: readonly Tool<never>[];
  /** Messages that the user sends meanwhile, by the step after whose results they come. */
  readonly steering?: Readonly<Record<number, readonly string[]>> | undefined;
  /** Stops the turn at its n-th event, counted from 0. */
  readonly stopAt?: number | undefined;
  /** Stops the turn at its first event of a kind. */
  readonly stopAtFirst?: StopKind | undefined;
  /** Decisions on calls that ask, one after the other. When nothing is left to decide, the turn is stopped. */
  readonly decisions?: readonly PlannedDecision[] | undefined;
}

/** The kinds of events at which a turn is stopped. */
export type StopKind = "tool-call" | "tool-output" | "input-response";

/** A decision on the call at a place of its step. */
export type PlannedDecision = readonly [place: number, decision: Partial<InputResponseEntry>];

/** Answers the requests of a turn as they were planned, each when nothing else runs. */
class Decisions {
  readonly #planned: PlannedDecision[];
  readonly #requests = new Map<string, InputRequestEntry>();

  constructor(planned: readonly PlannedDecision[]) {
    this.#planned = [...planned];
  }

  ask(requests: readonly InputRequestEntry[]): void {
    for (const request of requests) this.#requests.set(request.requestId, request);
  }

  next(stepId: string): InputResponseEntry | undefined {
    const [place, decision] = this.#planned.shift() ?? [];
    const request = this.#requests.get(`${stepId}.${place}`);
    if (request === undefined) return undefined;
    const { requestId, toolCallId, toolName } = request;
    const about = { type: "input-response" as const, requestId, toolCallId, toolName };
    return { ...about, decision: "allow", via: "http", ...decision };
  }
}

// The stored content must not depend on the machine's speed.
const clock: Clock = { now: () => 0, monotonic: () => 0, after: systemClock.after };
const createdAt = new Date(0);
const conversationId = "conversation";

/** Runs a turn through the turn loop and keeps its messages. Returns its end and the number of events it published. */
export async function converse(
  log: ConversationLog,
  plan: TurnPlan,
): Promise<{ readonly outcome: TurnOutcome; readonly published: number }> {
  const { endpoint, model, steering } = plan;
  const ids = createCountingIds(`m${log.lines.length}-`);
  const stop = new AbortController();
  const asked = userMessage(ids.next(), plan.asked);
  const before = [...log.live, asked];
  const decisions = new Decisions(plan.decisions ?? []);
  log.append([asked]);
  const events = runTurn({
    conversationId,
    turnId: `turn${log.lines.length}`,
    provider: endpoint.adapter(model),
    providerParams: {
      metadata: { provider: endpoint.provider, model },
      reasoningEffort: "high",
      cacheKey: conversationId,
    },
    tools: plan.tools,
    userMessages: [asked],
    context: async ({ turnMessages }) => ({ messages: shown([...before, ...turnMessages]) }),
    inputs: { listen: () => () => {} },
    sink: {
      async commitStep({ phase, stepIndex, stepId, messages, inputs = [], wait }) {
        log.append(messages);
        decisions.ask(inputs);
        if (wait && phase === "generation") return {};
        if (wait) {
          const response = decisions.next(stepId);
          if (response === undefined) stop.abort();
          return { responses: response === undefined ? [] : [response] };
        }
        if (phase !== "results") return {};
        const said = (steering?.[stepIndex] ?? []).map((text) =>
          userMessage(ids.next(), [{ type: "text", text }]),
        );
        log.append(said);
        return { steering: said };
      },
    },
    clock,
    ids,
    signal: stop.signal,
  });
  for (let published = 0; ; published += 1) {
    const next = await events.next();
    if (next.done) {
      log.append(next.value.uncommitted);
      return { outcome: next.value, published };
    }
    if (published === plan.stopAt || next.value.type === plan.stopAtFirst) stop.abort();
  }
}

function userMessage(id: string, content: readonly MessageContentPart[]): ConversationMessage {
  return { id, conversationId, role: "user", createdAt, content: [...content] };
}
