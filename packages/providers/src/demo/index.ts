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
import type { Beat } from "./beat.js";
import { compose } from "./compose.js";
import { exampleValue } from "./example-value.js";
import { createRandom, pauseBefore, pieces } from "./pace.js";
import { readScene } from "./scene.js";
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
    for (const [index, beat] of beatsOf(params).entries()) {
      if (beat.kind === "fail") {
        throw new ParleyError(beat.code, beat.message, { retryable: true });
      }
      if (beat.kind === "call") {
        const argumentsText = JSON.stringify(beat.input);
        const toolCall: ProviderToolCall = {
          id: `${id}-${toolCalls.length + 1}`,
          name: beat.tool,
          arguments: beat.input,
          argumentsText,
        };
        toolCalls.push(toolCall);
        await this.#breathe(argumentsText, writer.signal);
        await writer.write({ type: "tool-call", toolCall, index });
        content.push({
          type: "tool-call",
          toolCallId: toolCall.id,
          name: beat.tool,
          arguments: beat.input,
          argumentsText,
        });
        continue;
      }
      for (const piece of pieces(beat.text)) {
        await this.#breathe(piece, writer.signal);
        if (writer.signal.aborted) throw new ParleyError("canceled");
        if (beat.kind === "say") said += piece;
        await writer.write(
          beat.kind === "say"
            ? new TextDelta(piece, said, index)
            : { type: "reasoning-delta", textDelta: piece, index },
        );
      }
      content.push({ type: beat.kind === "say" ? "text" : "reasoning", text: beat.text });
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
function beatsOf(params: ProviderCallParams): Beat[] {
  const { reasoningEffort = "high" } = params;
  const beats = joinSpeech(compose(readScene(params))).flatMap((beat): Beat[] => {
    if (beat.kind !== "think") return [beat];
    const text = thoughtWith(reasoningEffort, beat.text);
    return text === "" ? [] : [{ ...beat, text }];
  });
  const { output } = params;
  if (output === undefined || beats.some(({ kind }) => kind !== "say" && kind !== "think")) return beats;
  return [{ kind: "say", text: JSON.stringify(exampleValue(output.schema)) }];
}

/** Joins adjacent texts into one part, as a model would send them. */
function joinSpeech(beats: readonly Beat[]): Beat[] {
  const joined: Beat[] = [];
  for (const beat of beats) {
    const last = joined.at(-1);
    if (beat.kind === "say" && last?.kind === "say") {
      joined[joined.length - 1] = { kind: "say", text: last.text + beat.text };
    } else joined.push(beat);
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
