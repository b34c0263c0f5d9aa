import type { MessageRole } from "../message.js";

/** `tool`: tool parts only; `event`: errors, compactions and entries about input; else `text`. */
export type MessageType = "text" | "tool" | "event";

/** Data of providers, by provider. Parley writes an object for each; other writers may put anything. */
export type CanonicalProviderMetadata = Record<string, unknown>;

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
  providerMetadata?: CanonicalProviderMetadata;
};

/** The fields beyond the base form are additive; readers of the base form may ignore them. */
export type MessagePart =
  | { type: "text"; text: string; providerMetadata?: CanonicalProviderMetadata }
  | {
      type: "reasoning";
      reasoning: string;
      durationMs?: number;
      details?: unknown;
      providerMetadata?: CanonicalProviderMetadata;
    }
  | ToolInvocationPart
  | {
      type: "file";
      data: string | Uint8Array;
      mimeType?: string;
      /** Set if `data` is empty because the file is stored elsewhere. */
      url?: string;
      /** Set, with `size`, if `data` is empty because the bytes are in the store of files. */
      hash?: string;
      size?: number;
      filename?: string;
      providerMetadata?: CanonicalProviderMetadata;
    }
  | {
      type: "source";
      id?: string;
      title?: string;
      url?: string;
      providerMetadata?: CanonicalProviderMetadata;
    }
  | { type: "data"; data: unknown; providerMetadata?: CanonicalProviderMetadata }
  | { type: "error"; message: string; code?: string; providerMetadata?: CanonicalProviderMetadata };

/**
 * A tool call (`state: "call"`), an unfinished one (`partial-call`), or a result (`state: "result"`). Parley stores
 * call and result in messages of their own, and both as text: `argsText` and `resultText` are what a request carried.
 * `args` and `result` are derived from them: a part that Parley returns has both, a stored one has only the text.
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
  providerMetadata?: CanonicalProviderMetadata;
};
