import { omitUndefined } from "@parley/core/messages";
import type { UiChunk } from "./ui-chunk.js";

/** A part of a UI message: fields by the SDK's names. */
export interface UiPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message as `useChat` keeps it. */
export interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly UiPart[];
  readonly metadata?: object;
}

/** Decision on an approval, as history shows it. */
export interface ShownDecision {
  readonly approved: boolean;
  readonly reason?: string;
}

/**
 * Folds chunks into the message that the SDK's own reducer makes of them. For history: a decided approval also shows
 * the decision, which no chunk of version 6 can.
 */
export function messageOfChunks(
  chunks: Iterable<UiChunk>,
  decisions: ReadonlyMap<string, ShownDecision>,
): UiMessage {
  const builder = new MessageBuilder(decisions);
  for (const chunk of chunks) builder.apply(chunk);
  return builder.message;
}

class MessageBuilder {
  readonly #decisions: ReadonlyMap<string, ShownDecision>;
  readonly #parts: UiPart[] = [];
  readonly #texts = new Map<string, number>();
  #id = "";
  #metadata: object = {};
  /** Index of the first part of the current step. */
  #stepStart = 0;

  constructor(decisions: ReadonlyMap<string, ShownDecision>) {
    this.#decisions = decisions;
  }

  get message(): UiMessage {
    return { id: this.#id, role: "assistant", parts: this.#parts, metadata: this.#metadata };
  }

  apply(chunk: UiChunk): void {
    if (isData(chunk)) {
      if (!chunk.transient) putData(this.#parts, chunk);
      return;
    }
    switch (chunk.type) {
      case "start":
        this.#id = chunk.messageId;
        this.#metadata = { ...this.#metadata, ...chunk.messageMetadata };
        break;
      case "start-step":
        this.#parts.push({ type: "step-start" });
        this.#stepStart = this.#parts.length;
        break;
      case "text-start":
        this.#texts.set(chunk.id, this.#parts.push({ type: "text", text: "", state: "done" }) - 1);
        break;
      case "reasoning-start": {
        const part = { type: "reasoning", id: chunk.id, text: "", state: "done" };
        this.#texts.set(chunk.id, this.#parts.push(part) - 1);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const at = this.#texts.get(chunk.id) ?? -1;
        const part = this.#parts[at];
        if (part !== undefined) this.#parts[at] = { ...part, text: `${String(part.text)}${chunk.delta}` };
        break;
      }
      case "tool-input-available":
      case "tool-approval-request":
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
        this.#applyToTool(chunk);
        break;
      case "source-url":
        this.#parts.push({ ...chunk });
        break;
      case "message-metadata":
      case "finish":
        this.#metadata = { ...this.#metadata, ...chunk.messageMetadata };
        break;
      case "text-end":
      case "reasoning-end":
      case "finish-step":
      case "abort":
      case "error":
        break;
      default:
        chunk satisfies never;
    }
  }

  #applyToTool(chunk: Extract<UiChunk, { toolCallId: string }>): void {
    const { toolCallId } = chunk;
    const parts = this.#parts;
    const inStep = parts.findIndex((part, at) => at >= this.#stepStart && part.toolCallId === toolCallId);
    if (chunk.type === "tool-input-available") {
      const { toolName, input, providerExecuted } = chunk;
      const call = { toolName, toolCallId, state: "input-available", input, providerExecuted };
      parts[inStep < 0 ? parts.length : inStep] = { type: "dynamic-tool", ...call };
      return;
    }
    // Ids of calls may repeat in later steps: the newest one counts.
    const at = inStep >= 0 ? inStep : parts.findLastIndex((part) => part.toolCallId === toolCallId);
    const part = parts[at];
    if (part !== undefined) parts[at] = this.#changed(part, chunk);
  }

  #changed(part: UiPart, chunk: ToolChange): UiPart {
    switch (chunk.type) {
      case "tool-approval-request": {
        const approval = { id: chunk.approvalId, ...this.#decisions.get(chunk.approvalId) };
        return { ...part, state: "approval-requested", approval };
      }
      case "tool-output-denied":
        return { ...part, state: "output-denied" };
      case "tool-output-available": {
        const { output, providerExecuted, preliminary } = chunk;
        return {
          ...withoutOutput(part),
          state: "output-available",
          output,
          ...omitUndefined({ preliminary, providerExecuted }),
        };
      }
      case "tool-output-error": {
        const { errorText, providerExecuted } = chunk;
        return {
          ...withoutOutput(part),
          state: "output-error",
          errorText,
          ...omitUndefined({ providerExecuted }),
        };
      }
    }
  }
}

type ToolChange = Exclude<Extract<UiChunk, { toolCallId: string }>, { type: "tool-input-available" }>;

function withoutOutput({ output: _, preliminary: _preliminary, ...part }: UiPart): UiPart {
  return part as UiPart;
}

type DataUiChunk = Extract<UiChunk, { data: unknown }>;

function isData(chunk: UiChunk): chunk is DataUiChunk {
  return "data" in chunk;
}

/** Adds data, or replaces data of the same type and id. */
function putData(parts: UiPart[], { type, id, data }: DataUiChunk): void {
  const part = { type, ...(id === undefined ? {} : { id }), data };
  const at = id === undefined ? -1 : parts.findIndex((each) => each.type === type && each.id === id);
  if (at >= 0) parts[at] = part;
  else parts.push(part);
}
