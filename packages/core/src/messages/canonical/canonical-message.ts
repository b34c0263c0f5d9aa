import type { ProviderMetadata } from "@parley/wire";
import type { MessageRole } from "../message.js";

/** `tool`: tool parts only; `event`: error and compaction entries; else `text`. */
export type MessageType = "text" | "tool" | "event";

/** The stored envelope of a message, independent of any database and SDK. */
export type CanonicalMessage = {
  id: string;
  threadId: string;
  role: MessageRole;
  type: MessageType;
  content: MessageContentV2;
  createdAt: Date;
  resourceId?: string;
};

/** Content in format 2. Parley writes `parts` alone; `content` is a convenience of other writers. */
export type MessageContentV2 = {
  format: 2;
  parts: MessagePart[];
  content?: string;
  metadata?: Record<string, unknown>;
  providerMetadata?: ProviderMetadata;
};

/** The fields beyond the base form are additive; readers of the base form may ignore them. */
export type MessagePart =
  | { type: "text"; text: string; providerMetadata?: ProviderMetadata }
  | {
      type: "reasoning";
      reasoning: string;
      durationMs?: number;
      details?: unknown;
      providerMetadata?: ProviderMetadata;
    }
  | ToolInvocationPart
  | {
      type: "file";
      data: string | Uint8Array;
      mimeType?: string;
      /** Set where `data` is empty because the file lies elsewhere. */
      url?: string;
      filename?: string;
      providerMetadata?: ProviderMetadata;
    }
  | { type: "source"; id?: string; title?: string; url?: string; providerMetadata?: ProviderMetadata }
  | { type: "data"; data: unknown; providerMetadata?: ProviderMetadata }
  | { type: "error"; message: string; code?: string; providerMetadata?: ProviderMetadata };

/**
 * A tool call (`state: "call"`), an unfinished one (`partial-call`), or a result (`state: "result"`).
 * Parley stores call and result in messages of their own, and both as text: `argsText` and `resultText`
 * are what a request carried, `args` and `result` are derived and absent where the text is present.
 */
export type ToolInvocationPart = {
  type: "tool-invocation";
  toolCallId: string;
  toolName: string;
  args?: unknown;
  argsText?: string;
  result?: unknown;
  resultText?: string;
  isError?: boolean;
  stepId?: string;
  durationMs?: number;
  state: "call" | "result" | "partial-call";
  providerMetadata?: ProviderMetadata;
};
