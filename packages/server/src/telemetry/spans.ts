import { createRequire } from "node:module";
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import type { EventContext } from "@parley/core/runtime";
import type { AgentEvent, TurnStepCompleteEvent, TurnToolResultEvent, Usage } from "@parley/wire";

type Api = typeof import("@opentelemetry/api");

/** An open turn's span, and the state for its next span. */
interface OpenTurn {
  readonly span: Span;
  readonly context: Context;
  /** Start of the running step. */
  stepStartedAt: number;
  /** Usage that the running step has reported. */
  usage: Usage | undefined;
  /** The last step's span, until the next event shows if it succeeded. */
  step: { readonly span: Span; readonly endedAt: number } | undefined;
}

const agentName = "parley";
const mostTurns = 10_000;

/**
 * Writes turns as spans, with the names of the OpenTelemetry conventions for generative AI: `invoke_agent` for a turn,
 * `chat` for each model call, `execute_tool` for each tool. Undefined if the API package is not installed; without an
 * exporter, the API itself does nothing. Messages, arguments and results are not in them.
 */
export function createSpanWriter(): ((event: AgentEvent, context: EventContext) => void) | undefined {
  const api = loadApi();
  if (api === undefined) return undefined;
  const turns = new Map<string, OpenTurn>();
  return (event, context) => {
    if (event.type === "status") endWaiting(turns, event.waiting?.turnId);
    if (!("turnId" in event)) return;
    let turn = turns.get(event.turnId);
    if (turn === undefined) {
      if (event.type === "turn-sealed") return;
      turn = openTurn(api, context);
      turns.set(event.turnId, turn);
      const [oldest] = turns;
      if (turns.size > mostTurns && oldest !== undefined) {
        oldest[1].span.end();
        turns.delete(oldest[0]);
      }
    }
    writeEvent(api, turn, event, context);
    if (event.type === "turn-sealed") turns.delete(event.turnId);
  };
}

/** Ends the span of a turn that waits from now on: the node that continues it opens another one. */
function endWaiting(turns: Map<string, OpenTurn>, turnId: string | undefined): void {
  const turn = turnId === undefined ? undefined : turns.get(turnId);
  if (turnId === undefined || turn === undefined) return;
  turn.step?.span.end(turn.step.endedAt);
  turn.span.setAttribute("parley.turn.waiting", true);
  turn.span.end();
  turns.delete(turnId);
}

function loadApi(): Api | undefined {
  try {
    return createRequire(import.meta.url)("@opentelemetry/api") as Api;
  } catch {
    return undefined;
  }
}

function tracerOf(api: Api): Tracer {
  return api.trace.getTracer("parley");
}

function openTurn(api: Api, { conversationId, turnId }: EventContext): OpenTurn {
  const span = tracerOf(api).startSpan(
    `invoke_agent ${agentName}`,
    {
      kind: api.SpanKind.INTERNAL,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agentName,
        "gen_ai.conversation.id": conversationId,
        "parley.turn.id": turnId,
      },
    },
    api.ROOT_CONTEXT,
  );
  return {
    span,
    context: api.trace.setSpan(api.ROOT_CONTEXT, span),
    stepStartedAt: Date.now(),
    usage: undefined,
    step: undefined,
  };
}

/** Returns the attribute of the model, as users name it: the label that figures have. */
function modelAttribute({ model }: EventContext): Attributes {
  return model === undefined ? {} : { "parley.model": model };
}

function writeEvent(api: Api, turn: OpenTurn, event: AgentEvent, context: EventContext): void {
  const now = Date.now();
  if (turn.step !== undefined) {
    if (event.type === "error") markFailed(api, turn.step.span, event.code ?? "internal");
    turn.step.span.end(turn.step.endedAt);
    turn.step = undefined;
  }
  switch (event.type) {
    case "turn-start":
      turn.stepStartedAt = now;
      break;
    case "usage":
      turn.usage = event.usage;
      break;
    case "step-complete":
      writeStep(api, turn, now, event, context);
      break;
    case "tool-result":
      writeTool(api, turn, now, event);
      turn.stepStartedAt = now;
      break;
    case "error":
      markFailed(api, turn.span, event.code ?? "internal");
      break;
    case "done":
      turn.span.setAttributes({
        "gen_ai.response.finish_reasons": [event.reason],
        ...modelAttribute(context),
        ...(event.usage === undefined ? {} : usageAttributes(event.usage)),
      });
      break;
    case "turn-sealed":
      turn.span.end(now);
      break;
    default:
  }
}

function markFailed(api: Api, span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: api.SpanStatusCode.ERROR, message: type });
}

function writeStep(
  api: Api,
  turn: OpenTurn,
  now: number,
  step: TurnStepCompleteEvent,
  context: EventContext,
): void {
  const { providerName = "unknown", model } = context;
  const startTime = step.genTotalMs === undefined ? turn.stepStartedAt : now - step.genTotalMs;
  // Users name a model with its credential before it; the provider knows it without.
  const requested = model?.slice(model.indexOf("/") + 1);
  const attributes: Attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName,
    "gen_ai.request.stream": true,
    ...(requested === undefined ? {} : { "gen_ai.request.model": requested }),
    ...modelAttribute(context),
    ...(turn.usage === undefined ? {} : usageAttributes(turn.usage)),
    ...(step.ttftMs === undefined ? {} : { "gen_ai.response.time_to_first_chunk": step.ttftMs / 1_000 }),
  };
  const name = requested === undefined ? "chat" : `chat ${requested}`;
  const span = tracerOf(api).startSpan(
    name,
    { kind: api.SpanKind.CLIENT, startTime, attributes },
    turn.context,
  );
  turn.step = { span, endedAt: now };
  turn.usage = undefined;
}

function writeTool(api: Api, turn: OpenTurn, now: number, result: TurnToolResultEvent): void {
  const span = tracerOf(api).startSpan(
    `execute_tool ${result.toolName}`,
    {
      kind: api.SpanKind.INTERNAL,
      startTime: now - (result.durationMs ?? 0),
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": result.toolName,
        "gen_ai.tool.call.id": result.toolCallId,
        "gen_ai.tool.type": "function",
        ...(result.isError ? { "error.type": "tool_failed" } : {}),
      },
    },
    turn.context,
  );
  if (result.isError) span.setStatus({ code: api.SpanStatusCode.ERROR });
  span.end(now);
}

function usageAttributes(usage: Usage): Attributes {
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    ...(cacheReadTokens === undefined ? {} : { "gen_ai.usage.cache_read.input_tokens": cacheReadTokens }),
    ...(cacheWriteTokens === undefined
      ? {}
      : { "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { "gen_ai.usage.reasoning.output_tokens": reasoningTokens }),
  };
}
