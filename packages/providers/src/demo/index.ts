import { ParleyError } from "@parley/core/errors";
import {
  collect,
  countTextTokens,
  createProviderStream,
  type MessageContentPart,
  type ProviderStreamWriter,
  TextDelta,
} from "@parley/core/messages";
import type {
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderStream,
  ProviderToolCall,
} from "@parley/core/ports";
import type { Effort } from "../call/distinct-efforts.js";
import { compose } from "./compose.js";
import type { DemoAction } from "./demo-action.js";
import { readDemoRequest } from "./demo-request.js";
import { exampleValue } from "./example-value.js";
import { createRandom, pauseBefore, pieces } from "./pace.js";
import { pause } from "./slow-task.js";

export { errand } from "./errand.js";
export { slowTask } from "./slow-task.js";

export interface DemoProviderOptions {
  /** `human` streams at reading speed (the default), `instant` without waiting. */
  readonly pace?: "human" | "instant";
  /** Makes the pace, which is the only random part, repeatable. */
  readonly seed?: number;
}

/**
 * The context window that the demo model declares: small, so that a compaction can be seen after a short
 * conversation.
 */
export const demoContextWindow = 16_000;

/**
 * A model without a network or any intelligence: it follows keywords, calls the tools it is given, and says
 * that it is a demo. For trying every feature of Parley without a key, and for tests.
 */
export class DemoProviderAdapter implements ProviderAdapter {
  readonly #pace: "human" | "instant";
  readonly #random: () => number;
  #calls = 0;

  constructor(options: DemoProviderOptions = {}) {
    this.#pace = options.pace ?? "human";
    this.#random = createRandom(options.seed ?? 1);
  }

  complete(params: ProviderCallParams): Promise<ProviderCallResult> {
    return collect(this.#open(params));
  }

  async completeStream(params: ProviderCallParams): Promise<ProviderStream> {
    return this.#open(params);
  }

  efforts(): readonly Effort[] {
    return ["low", "medium", "high", "xhigh", "max"];
  }

  takesOutput(): boolean {
    return true;
  }

  #open(params: ProviderCallParams): ProviderStream {
    return createProviderStream((writer) => this.#perform(params, writer), { signal: params.signal });
  }

  async #perform(params: ProviderCallParams, writer: ProviderStreamWriter): Promise<void> {
    this.#calls += 1;
    const id = `demo-${this.#calls}`;
    const content: MessageContentPart[] = [];
    const toolCalls: ProviderToolCall[] = [];
    let said = "";
    for (const [index, action] of actionsOf(params).entries()) {
      if (action.kind === "fail") {
        throw new ParleyError(action.code, action.message, { retryable: true });
      }
      if (action.kind === "call") {
        const argumentsText = JSON.stringify(action.input);
        const toolCall: ProviderToolCall = {
          id: `${id}-${toolCalls.length + 1}`,
          name: action.tool,
          arguments: action.input,
          argumentsText,
        };
        toolCalls.push(toolCall);
        await this.#breathe(argumentsText, writer.signal);
        await writer.write({ type: "tool-call", toolCall, index });
        content.push({
          type: "tool-call",
          toolCallId: toolCall.id,
          name: action.tool,
          arguments: action.input,
          argumentsText,
        });
        continue;
      }
      for (const piece of pieces(action.text)) {
        await this.#breathe(piece, writer.signal);
        if (writer.signal.aborted) throw new ParleyError("canceled");
        if (action.kind === "say") said += piece;
        await writer.write(
          action.kind === "say"
            ? new TextDelta(piece, said, index)
            : { type: "reasoning-delta", textDelta: piece, index },
        );
      }
      content.push({ type: action.kind === "say" ? "text" : "reasoning", text: action.text });
    }
    const usage = { inputTokens: countRequest(params), outputTokens: countParts(content) };
    writer.write({
      type: "done",
      result: {
        id,
        createdAt: new Date(),
        message: { role: "assistant", content },
        toolCalls,
        usage,
        finishReason: toolCalls.length > 0 ? "tool-calls" : "stop",
      },
    });
  }

  async #breathe(piece: string, signal: AbortSignal): Promise<void> {
    const ms = pauseBefore(piece, this.#random);
    if (this.#pace === "human") await pause(ms, signal);
  }
}

/** Returns a thought for an effort: none, shortened, as it is, or extended. */
function thoughtWith(effort: Effort, text: string): string {
  switch (effort) {
    case "low":
      return "";
    case "medium":
      return "Hm.";
    case "high":
      return text;
    case "xhigh":
      return `${text} Let me think that over: yes.`;
    case "max":
      return `${text} Let me think that over: yes. And once more, from the other end: still yes.`;
  }
}

/** Returns the model's actions; asked for data, it makes its usual calls, and then makes the data up. */
function actionsOf(params: ProviderCallParams): DemoAction[] {
  const { reasoningEffort = "high" } = params;
  const actions = joinSpeech(compose(readDemoRequest(params))).flatMap((action): DemoAction[] => {
    if (action.kind !== "think") return [action];
    const text = thoughtWith(reasoningEffort, action.text);
    return text === "" ? [] : [{ ...action, text }];
  });
  const { output } = params;
  if (output === undefined || actions.some(({ kind }) => kind !== "say" && kind !== "think")) return actions;
  return [{ kind: "say", text: JSON.stringify(exampleValue(output.schema)) }];
}

/** Joins adjacent texts into one part, as a model would send them. */
function joinSpeech(actions: readonly DemoAction[]): DemoAction[] {
  const joined: DemoAction[] = [];
  for (const action of actions) {
    const last = joined.at(-1);
    if (action.kind === "say" && last?.kind === "say") {
      joined[joined.length - 1] = { kind: "say", text: last.text + action.text };
    } else joined.push(action);
  }
  return joined;
}

function countRequest(params: ProviderCallParams): number {
  let tokens = 3;
  for (const { content } of params.messages) tokens += 4 + countParts(content as MessageContentPart[]);
  for (const tool of params.tools ?? []) tokens += countTextTokens(JSON.stringify(tool));
  return tokens;
}

function countParts(parts: readonly MessageContentPart[]): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.type === "text" || part.type === "reasoning") tokens += countTextTokens(part.text);
    else if (part.type === "tool-call") tokens += countTextTokens(part.argumentsText ?? "") + 8;
    else if (part.type === "tool-result") tokens += countTextTokens(part.resultText ?? "") + 8;
  }
  return tokens;
}
