/** Values of `finishReason` that clients of version 6 know; another one makes them fail. */
export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

/**
 * Chunks of a UI message stream, as far as Parley sends them: only those that clients of version 6 know, because
 * nothing in a request names the version and an unknown chunk ends the client's reading. An optional field is left
 * out, never null.
 */
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata: object }
  | { readonly type: "start-step" }
  | { readonly type: "finish-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | {
      readonly type: "tool-input-available";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly dynamic: true;
      readonly providerExecuted: boolean;
    }
  | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: "tool-output-available";
      readonly toolCallId: string;
      readonly output: unknown;
      readonly dynamic: true;
      readonly providerExecuted?: boolean;
      readonly preliminary?: true;
    }
  | {
      readonly type: "tool-output-error";
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
      readonly providerExecuted?: boolean;
    }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | {
      readonly type: "source-url";
      readonly sourceId: string;
      readonly url: string;
      readonly title?: string;
    }
  | {
      readonly type: `data-${string}`;
      readonly id?: string;
      readonly data: unknown;
      readonly transient?: true;
    }
  | { readonly type: "message-metadata"; readonly messageMetadata: object }
  | { readonly type: "abort" }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "finish"; readonly finishReason: FinishReason; readonly messageMetadata?: object };

/** Type of the data part that shows messages which joined the running turn. */
export const steeringType = "data-parley-steering";

/** Type of the data part that shows a question which a tool asks while it runs. */
export const questionType = "data-parley-question";

/** Type of the transient data part that reports the queue. */
export const queueType = "data-parley-queue";

/** Returns a chunk as one frame of the stream. */
export function frameOf(chunk: UiChunk): Buffer {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}
