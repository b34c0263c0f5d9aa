import { isParleyError, type ParleyError } from "@parley/core/errors";
import type { MessageContentPart } from "@parley/core/messages";
import { argumentsFromText } from "@parley/core/messages";
import type {
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderStream,
  ProviderStreamEvent,
  ProviderToolCall,
} from "@parley/core/ports";
import { type ContractCase, check, checkEqual, checkRejects } from "../contract-case.js";

/**
 * Behavior of the provider's server in a case:
 * - `text`: answers with text in two or more pieces, and reports usage;
 * - `tools`: calls two or more tools at once, and reports usage;
 * - `reasoning`: reasons visibly, then answers with text;
 * - `refusing`: refuses the call;
 * - `breaking`: sends some text, then fails or disconnects;
 * - `hanging`: sends some text, then nothing more until its client leaves.
 */
export type ProviderScenario = "text" | "tools" | "reasoning" | "refusing" | "breaking" | "hanging";

/** An adapter for one case. The same params must give the same answer again. */
export interface ProviderFixture {
  readonly provider: ProviderAdapter;
  readonly params: Omit<ProviderCallParams, "signal">;
  /** For `hanging`: resolves when the server has noticed that its client left. */
  readonly left?: Promise<unknown>;
  /** Called after the case. */
  close?(): Promise<void>;
}

export interface ProviderContractOptions {
  /** Scenarios that do not exist for this adapter, such as `reasoning` for one whose models do not reason. */
  readonly without?: readonly ProviderScenario[];
}

type Streaming = ProviderAdapter & Required<Pick<ProviderAdapter, "completeStream">>;
type Body = (
  provider: Streaming,
  params: Omit<ProviderCallParams, "signal">,
  left?: Promise<unknown>,
) => Promise<void>;

/**
 * Returns the guarantees that the turn loop expects of a streaming `ProviderAdapter`. `make` sets up one scenario,
 * usually against a local server that implements the vendor's protocol, and is called again for each case. A case
 * that never ends is a failure too: leave that to the time limit of the test runner.
 */
export function providerContract(
  make: (scenario: ProviderScenario) => ProviderFixture | Promise<ProviderFixture>,
  options: ProviderContractOptions = {},
): ContractCase[] {
  const cases: ContractCase[] = [];
  for (const scenario of Object.keys(bodies) as ProviderScenario[]) {
    if (options.without?.includes(scenario)) continue;
    for (const [name, body] of Object.entries(bodies[scenario])) {
      cases.push({
        name: `${scenario}: ${name}`,
        async run() {
          const fixture = await make(scenario);
          try {
            const { provider } = fixture;
            check(isStreaming(provider), "the adapter has completeStream");
            await body(provider, fixture.params, fixture.left);
          } finally {
            await fixture.close?.();
          }
        },
      });
    }
  }
  return cases;
}

const text: Record<string, Body> = {
  "the stream ends with one done, and final is its result": async (provider, params) => {
    const { events, result, final } = await success(provider, params);
    checkEqual(events.filter((event) => event.type === "done").length, 1, "the number of done events");
    check(final === result, "final resolves with the very result of done");
  },
  "the increments join to the text of the result, and each delta carries the text so far": async (
    provider,
    params,
  ) => {
    const stream = await provider.completeStream(params);
    let joined = "";
    let deltas = 0;
    for await (const event of stream) {
      if (event.type !== "delta") continue;
      joined += event.textDelta ?? "";
      deltas += 1;
      checkEqual(textIn(event.delta.content), joined, "the text so far");
    }
    check(deltas >= 2, "the text comes in two or more pieces");
    checkEqual(joined, textIn((await stream.final).message.content), "the text of the result");
  },
  "the result is an assistant message with an id, a date, a reason and usage": async (provider, params) => {
    const { result } = await success(provider, params);
    checkEqual(result.message.role, "assistant", "the role");
    check(result.id !== "", "the id is not empty");
    check(
      result.createdAt instanceof Date && !Number.isNaN(result.createdAt.getTime()),
      "createdAt is a date",
    );
    checkEqual(result.finishReason, "stop", "the finish reason");
    checkEqual(result.toolCalls ?? [], [], "the tool calls");
    checkUsage(result);
  },
  "a usage event agrees with the result": async (provider, params) => {
    const { events, result } = await success(provider, params);
    const reported = events.filter((event) => event.type === "usage").at(-1);
    if (reported !== undefined) checkEqual(reported.usage, result.usage, "the usage event");
  },
  "final resolves without iteration": async (provider, params) => {
    const { result } = await success(provider, params);
    const stream = await provider.completeStream(params);
    checkEqual(essence(await stream.final), essence(result), "the result of final alone");
  },
  "complete gives what the stream gives": async (provider, params) => {
    const { result } = await success(provider, params);
    checkEqual(essence(await provider.complete(params)), essence(result), "the result of complete");
  },
  "a signal that aborts behind the end changes nothing": async (provider, params) => {
    const abort = new AbortController();
    const { result, final } = await success(provider, { ...params, signal: abort.signal });
    abort.abort();
    check(final === result, "the result stands");
  },
};

const tools: Record<string, Body> = {
  "each call appears once, with an id of its own and its text": async (provider, params) => {
    const { events } = await success(provider, params);
    const calls = callsIn(events);
    check(calls.length >= 2, "two or more calls");
    checkEqual(new Set(calls.map((call) => call.id)).size, calls.length, "the number of ids");
    for (const call of calls) {
      check(call.name !== "" && call.id !== "", "a call has a name and an id");
      check(call.argumentsText !== undefined, "a call has its argumentsText");
      checkEqual(call.arguments, argumentsFromText(call.argumentsText), "the arguments and their text");
    }
  },
  "the result repeats the calls, and each stands in the message at most once": async (provider, params) => {
    const { events, result } = await success(provider, params);
    const calls = callsIn(events);
    checkEqual(result.toolCalls, calls, "the calls of the result");
    checkEqual(result.finishReason, "tool-calls", "the finish reason");
    const parts = result.message.content as MessageContentPart[];
    const ids = parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    checkEqual(new Set(ids).size, ids.length, "the number of call parts");
    for (const id of ids)
      check(
        calls.some((call) => call.id === id),
        `part ${id} is one of the calls`,
      );
    checkUsage(result);
  },
  "progress of a call joins to its text": async (provider, params) => {
    const { events } = await success(provider, params);
    const progress = new Map<string, string>();
    for (const event of events) {
      if (event.type !== "tool-input-delta") continue;
      progress.set(event.toolCallId, (progress.get(event.toolCallId) ?? "") + event.inputTextDelta);
    }
    for (const [id, joined] of progress) {
      checkEqual(
        joined,
        callsIn(events).find((call) => call.id === id)?.argumentsText,
        `the text of call ${id}`,
      );
    }
  },
  "complete gives what the stream gives": text["complete gives what the stream gives"] as Body,
};

const reasoning: Record<string, Body> = {
  "reasoning streams apart from the text and is part of the message, in front of it": async (
    provider,
    params,
  ) => {
    const { events, result } = await success(provider, params);
    const streamed = events
      .map((event) => (event.type === "reasoning-delta" ? event.textDelta : ""))
      .join("");
    const parts = result.message.content as MessageContentPart[];
    const kept = parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
    check(streamed !== "", "reasoning is streamed");
    checkEqual(kept, streamed, "the reasoning of the message");
    const kinds = parts.map((part) => part.type).filter((kind) => kind === "reasoning" || kind === "text");
    checkEqual(kinds[0], "reasoning", "the first part");
    check(kinds.includes("text"), "text follows");
    const said = events.map((event) => (event.type === "delta" ? (event.textDelta ?? "") : "")).join("");
    checkEqual(said, textIn(result.message.content), "the text");
  },
};

const refusing: Record<string, Body> = {
  "the call fails with a ParleyError, by rejecting or in the stream": async (provider, params) => {
    await failure(provider, params);
  },
  "complete rejects with the same code": async (provider, params) => {
    const { code } = await failure(provider, params);
    const error = await checkRejects(provider.complete(params), "complete");
    check(isParleyError(error), `complete rejects with a ParleyError, not ${String(error)}`);
    checkEqual(error.code, code, "the code");
  },
};

const breaking: Record<string, Body> = {
  "what came before the failure is seen, and the iteration ends with one error, without throwing": async (
    provider,
    params,
  ) => {
    const { events } = await readAll(await provider.completeStream(params));
    check(
      events.some((event) => event.type === "delta"),
      "the text before the failure",
    );
    checkEqual(events.at(-1)?.type, "error", "the last event");
    checkEqual(
      events.filter((event) => event.type === "error" || event.type === "done").length,
      1,
      "the ends",
    );
  },
  "final rejects with the very error of the event": async (provider, params) => {
    const stream = await provider.completeStream(params);
    const { events } = await readAll(stream);
    const last = events.at(-1);
    check(last?.type === "error" && isParleyError(last.error), "the last event carries a ParleyError");
    check((await checkRejects(stream.final, "final")) === last.error, "final rejects with the same error");
  },
  "a failure that is not awaited is not an unhandled rejection": async (provider, params) => {
    const unhandled = await unhandledRejections(async () => {
      await readAll(await provider.completeStream(params));
    });
    checkEqual(unhandled.length, 0, "the number of unhandled rejections");
  },
  "complete rejects with the same code": async (provider, params) => {
    const { events } = await readAll(await provider.completeStream(params));
    const last = events.at(-1);
    const error = await checkRejects(provider.complete(params), "complete");
    check(isParleyError(error), `complete rejects with a ParleyError, not ${String(error)}`);
    checkEqual(error.code, last?.type === "error" ? last.error.code : undefined, "the code");
  },
};

const hanging: Record<string, Body> = {
  "an abort ends the stream with canceled, and final too": async (provider, params, left) => {
    const abort = new AbortController();
    const stream = await provider.completeStream({ ...params, signal: abort.signal });
    const { events } = await readAll(stream, (event) => {
      if (event.type === "delta") abort.abort();
    });
    const last = events.at(-1);
    check(last?.type === "error", "the last event is an error");
    checkEqual(last.error.code, "canceled", "the code of the event");
    check((await checkRejects(stream.final, "final")) === last.error, "final rejects with the same error");
    await left;
  },
  "leaving the iteration early cancels the call": async (provider, params, left) => {
    const stream = await provider.completeStream(params);
    for await (const event of stream) if (event.type === "delta") break;
    const error = await checkRejects(stream.final, "final");
    checkEqual(isParleyError(error) ? error.code : error, "canceled", "the code of final");
    await left;
  },
  "a signal that is already aborted cancels at once": async (provider, params) => {
    const signal = AbortSignal.abort();
    checkEqual((await failure(provider, { ...params, signal })).code, "canceled", "the code");
  },
  "an abort makes complete reject with canceled": async (provider, params) => {
    const abort = new AbortController();
    const completed = checkRejects(provider.complete({ ...params, signal: abort.signal }), "complete");
    abort.abort();
    const error = await completed;
    checkEqual(isParleyError(error) ? error.code : error, "canceled", "the code");
  },
};

const bodies: Record<ProviderScenario, Record<string, Body>> = {
  text,
  tools,
  reasoning,
  refusing,
  breaking,
  hanging,
};

function isStreaming(provider: ProviderAdapter): provider is Streaming {
  return provider.completeStream !== undefined;
}

async function readAll(stream: ProviderStream, onEvent: (event: ProviderStreamEvent) => void = () => {}) {
  const events: ProviderStreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    onEvent(event);
  }
  return { events };
}

async function success(provider: Streaming, params: ProviderCallParams) {
  const stream = await provider.completeStream(params);
  const { events } = await readAll(stream);
  const last = events.at(-1);
  check(
    last?.type === "done",
    `the last event is done, not ${last?.type === "error" ? last.error.message : last?.type}`,
  );
  return { events, result: last.result, final: await stream.final };
}

async function failure(provider: Streaming, params: ProviderCallParams): Promise<ParleyError> {
  let error: unknown;
  try {
    const { events } = await readAll(await provider.completeStream(params));
    const last = events.at(-1);
    check(last?.type === "error", `the stream ends with error, not ${last?.type}`);
    error = last.error;
  } catch (thrown) {
    error = thrown;
  }
  check(isParleyError(error), `the failure is a ParleyError, not ${String(error)}`);
  return error;
}

function callsIn(events: readonly ProviderStreamEvent[]): ProviderToolCall[] {
  return events.flatMap((event) => (event.type === "tool-call" ? [event.toolCall] : []));
}

function textIn(content: ProviderCallResult["message"]["content"]): string {
  return content
    .map((part) => (part.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("");
}

function checkUsage({ usage }: ProviderCallResult): void {
  check(usage !== undefined, "the result has usage");
  for (const [counter, amount] of Object.entries(usage)) {
    check(amount === undefined || (Number.isInteger(amount) && amount >= 0), `${counter} is a count`);
  }
  check(usage.inputTokens > 0 && usage.outputTokens > 0, "input and output were counted");
}

/** Returns what two results of the same answer have in common: everything but ids and dates. */
function essence(result: ProviderCallResult) {
  return {
    text: textIn(result.message.content),
    kinds: result.message.content.map((part) => (part as { type?: unknown }).type),
    calls: (result.toolCalls ?? []).map((call) => [call.name, call.argumentsText]),
    usage: result.usage,
    finishReason: result.finishReason,
  };
}

interface RejectionSource {
  on(event: "unhandledRejection", listener: (reason: unknown) => void): unknown;
  off(event: "unhandledRejection", listener: (reason: unknown) => void): unknown;
}

/** Returns the unhandled rejections while `body` ran. Sees them on Node; elsewhere the runner has to. */
async function unhandledRejections(body: () => Promise<void>): Promise<unknown[]> {
  const { process } = globalThis as { process?: RejectionSource };
  const seen: unknown[] = [];
  const listener = (reason: unknown) => seen.push(reason);
  process?.on?.("unhandledRejection", listener);
  try {
    await body();
    // They are reported once the microtasks are done, so before the next timer.
    await new Promise((resolve) => setTimeout(resolve, 0));
  } finally {
    process?.off?.("unhandledRejection", listener);
  }
  return seen;
}
