import type { ProviderCallRecord } from "@parley/core/ports";
import type { CallContext, EventContext, Runtime, WebhookAttempt } from "@parley/core/runtime";
import type { AgentEvent, QueuePayload } from "@parley/wire";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { createSpanWriter } from "./spans.js";

/** The figures of a server, and the spans of its turns. */
export interface Telemetry {
  /** Records the events of turns: pass it to `createRuntime` as `hooks.onEvent`. */
  readonly onEvent: (event: AgentEvent, context: EventContext) => void;
  /** Counts the cost of calls to providers: pass it to `createRuntime` as `hooks.onCall`. */
  readonly onCall: (call: ProviderCallRecord, context: CallContext) => void;
  /** Counts attempts to deliver webhooks: pass it to `createRuntime` as `hooks.onWebhookAttempt`. */
  readonly onWebhookAttempt: (attempt: WebhookAttempt) => void;
  /** Reads the number of running turns from the runtime. */
  watchRuntime(runtime: Pick<Runtime, "status">): void;
  /** Records the current queue of a conversation. */
  queueSeen(conversationId: string, queue: QueuePayload): void;
  socketOpened(): void;
  socketClosed(): void;
  streamOpened(): void;
  streamClosed(): void;
  requestDone(request: { readonly route: string; readonly status: number; readonly seconds: number }): void;
  /** Returns all figures in Prometheus' format. */
  exposition(): Promise<{ readonly text: string; readonly type: string }>;
}

export interface TelemetryOptions {
  /** Includes the figures of the process: memory, event loop, garbage. Default true. */
  readonly processFigures?: boolean;
  /** Writes spans when `@opentelemetry/api` is installed and set up. Default true. */
  readonly spans?: boolean;
}

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/**
 * Creates figures and spans for one node. Create one, pass its `onEvent` to `createRuntime` and the whole to
 * `createApp`:
 *
 * ```ts
 * const telemetry = createTelemetryHooks();
 * const { onEvent, onCall } = telemetry;
 * const runtime = await createRuntime({ ..., hooks: { onEvent, onCall } });
 * const app = createApp(runtime, { telemetry });
 * ```
 */
export function createTelemetryHooks(options: TelemetryOptions = {}): Telemetry {
  const registry = new Registry();
  if (options.processFigures !== false) collectDefaultMetrics({ register: registry });
  const writeSpans = options.spans === false ? undefined : createSpanWriter();
  const waiting = new WaitingMessages();
  let runtimes: Pick<Runtime, "status">[] = [];
  const runningTurns = () => runtimes.reduce((sum, runtime) => sum + runtime.status().runningTurns, 0);
  const figures = createFigures(registry, { waitingMessages: () => waiting.size, runningTurns });

  return {
    onEvent(event, context) {
      countEvent(figures, event, context.model ?? "unknown");
      noteDelivery(waiting, event);
      writeSpans?.(event, context);
    },
    onCall({ cost }, { model, purpose }) {
      if (cost === undefined) figures.callsOfUnknownCost.inc({ model, purpose });
      else {
        const { amount, currency, source } = cost;
        figures.cost.inc({ model, purpose, currency, source }, amount);
      }
    },
    onWebhookAttempt({ type, outcome, durationMs }) {
      figures.webhookAttempts.inc({ event: type, outcome });
      figures.webhookDuration.observe(durationMs / 1_000);
    },
    watchRuntime(runtime) {
      if (!runtimes.includes(runtime)) runtimes = [...runtimes, runtime];
    },
    queueSeen: (conversationId, queue) => waiting.seen(conversationId, queue),
    socketOpened: () => figures.sockets.inc(),
    socketClosed: () => figures.sockets.dec(),
    streamOpened: () => figures.streams.inc(),
    streamClosed: () => figures.streams.dec(),
    requestDone({ route, status, seconds }) {
      figures.requests.observe({ route, status: String(status) }, seconds);
    },
    exposition: async () => ({ text: await registry.metrics(), type: registry.contentType }),
  };
}

type Figures = ReturnType<typeof createFigures>;

/** Creates the counters and gauges, under their published names. The values of `ask` are read with each scrape. */
function createFigures(
  registry: Registry,
  ask: { readonly waitingMessages: () => number; readonly runningTurns: () => number },
) {
  const registers = [registry];
  new Gauge({
    name: "parley_queue_depth",
    help: "Messages that wait in conversations, as far as this node knows",
    registers,
    collect() {
      this.set(ask.waitingMessages());
    },
  });
  new Gauge({
    name: "parley_running_turns",
    help: "Turns that run on this node",
    registers,
    collect() {
      this.set(ask.runningTurns());
    },
  });
  return {
    turns: new Counter({
      name: "parley_turns_total",
      help: "Turns that were sealed, by how they ended",
      labelNames: ["status"],
      registers,
    }),
    turnDuration: new Histogram({
      name: "parley_turn_duration_seconds",
      help: "From a turn's start to its end, without the time in which it waited for input",
      buckets: [...seconds, 163.84, 327.68],
      registers,
    }),
    turnWaiting: new Histogram({
      name: "parley_turn_waiting_seconds",
      help: "How long turns waited for input, of those that did",
      buckets: [1, 10, 60, 600, 3_600, 28_800, 86_400, 604_800],
      registers,
    }),
    inputRequests: new Counter({
      name: "parley_input_requests_total",
      help: "Requests for input, by kind",
      labelNames: ["kind"],
      registers,
    }),
    inputResponses: new Counter({
      name: "parley_input_responses_total",
      help: "Responses to requests for input that turns went on with, by decision",
      labelNames: ["decision"],
      registers,
    }),
    ttft: new Histogram({
      name: "parley_ttft_seconds",
      help: "From a model call's start to its first text or reasoning",
      buckets: seconds,
      registers,
    }),
    tokens: new Counter({
      name: "parley_tokens_total",
      help: "Tokens as the providers report them; cached and reasoning tokens are parts of input and output",
      labelNames: ["type", "model"],
      registers,
    }),
    cost: new Counter({
      name: "parley_cost_total",
      help: "Cost of calls to providers, in units of the currency, as billed or as estimated from prices",
      labelNames: ["model", "purpose", "currency", "source"],
      registers,
    }),
    callsOfUnknownCost: new Counter({
      name: "parley_calls_of_unknown_cost_total",
      help: "Calls to providers whose cost is unknown, and not part of parley_cost_total",
      labelNames: ["model", "purpose"],
      registers,
    }),
    providerErrors: new Counter({
      name: "parley_provider_errors_total",
      help: "Turns that failed, by error code",
      labelNames: ["category"],
      registers,
    }),
    webhookAttempts: new Counter({
      name: "parley_webhook_attempts_total",
      help: "Attempts to deliver events to webhooks: delivered, failed (tried again), dead (given up), gone (disabled)",
      labelNames: ["event", "outcome"],
      registers,
    }),
    webhookDuration: new Histogram({
      name: "parley_webhook_attempt_duration_seconds",
      help: "From an attempt's start to its answer, or to its failure",
      buckets: seconds,
      registers,
    }),
    sockets: new Gauge({ name: "parley_ws_connections", help: "Open sockets", registers }),
    streams: new Gauge({ name: "parley_sse_connections", help: "Open event streams", registers }),
    requests: new Histogram({
      name: "parley_http_request_duration_seconds",
      help: "Requests by route and status; of streams, until they began",
      labelNames: ["route", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

function countEvent(figures: Figures, event: AgentEvent, model: string): void {
  switch (event.type) {
    case "usage": {
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = event.usage;
      const { tokens } = figures;
      tokens.inc({ type: "input", model }, inputTokens);
      tokens.inc({ type: "output", model }, outputTokens);
      if (cacheReadTokens) tokens.inc({ type: "cache_read", model }, cacheReadTokens);
      if (cacheWriteTokens) tokens.inc({ type: "cache_write", model }, cacheWriteTokens);
      if (reasoningTokens) tokens.inc({ type: "reasoning", model }, reasoningTokens);
      break;
    }
    case "step-complete":
      if (event.ttftMs !== undefined) figures.ttft.observe(event.ttftMs / 1_000);
      break;
    case "error":
      figures.providerErrors.inc({ category: event.code ?? "internal" });
      break;
    case "input-request":
      figures.inputRequests.inc({ kind: event.input.kind });
      break;
    case "input-response":
      figures.inputResponses.inc({ decision: event.input.decision });
      break;
    case "done": {
      const { durationMs, waitedMs = 0 } = event;
      if (durationMs !== undefined) figures.turnDuration.observe(Math.max(0, durationMs - waitedMs) / 1_000);
      if (waitedMs > 0) figures.turnWaiting.observe(waitedMs / 1_000);
      break;
    }
    case "turn-sealed":
      figures.turns.inc({ status: event.reason ?? "unknown" });
      break;
    default:
  }
}

/** Removes what an event reports as delivered from the waiting messages. */
function noteDelivery(waiting: WaitingMessages, event: AgentEvent): void {
  if (event.type === "user-message") {
    const ids = event.messages?.map((each) => each.messageId) ?? [event.messageId];
    waiting.delivered(event.conversationId, ids);
  } else if (event.type === "steering") {
    waiting.delivered(event.conversationId, event.messageIds ?? []);
  }
}

const mostConversations = 10_000;

/** The waiting messages, collected from queues that are read and from events that report deliveries. */
class WaitingMessages {
  readonly #byConversation = new Map<string, Set<string>>();

  get size(): number {
    let size = 0;
    for (const ids of this.#byConversation.values()) size += ids.size;
    return size;
  }

  seen(conversationId: string, { messages }: QueuePayload): void {
    this.#byConversation.delete(conversationId);
    if (messages.length === 0) return;
    this.#byConversation.set(conversationId, new Set(messages.map((message) => message.id)));
    if (this.#byConversation.size <= mostConversations) return;
    const [oldest] = this.#byConversation.keys();
    if (oldest !== undefined) this.#byConversation.delete(oldest);
  }

  delivered(conversationId: string, ids: readonly (string | undefined)[]): void {
    const waiting = this.#byConversation.get(conversationId);
    if (waiting === undefined) return;
    for (const id of ids) if (id !== undefined) waiting.delete(id);
    if (waiting.size === 0) this.#byConversation.delete(conversationId);
  }
}
