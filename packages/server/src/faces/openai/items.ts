import { omitUndefined } from "@parley/core/messages";
import type { Chunk } from "@parley/wire";
import { fileAddress } from "../file-address.js";
import { type ItemPlace, itemId } from "./ids.js";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Text of a model. */
export interface MessageItem {
  readonly id: string;
  readonly type: "message";
  readonly role: "user" | "assistant" | "system";
  readonly status: ItemStatus;
  readonly content: readonly ContentPart[];
}

export type ContentPart =
  | {
      readonly type: "output_text";
      readonly text: string;
      readonly annotations: readonly object[];
      readonly logprobs: readonly object[];
    }
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly image_url: string; readonly detail: "auto" }
  | {
      readonly type: "input_file";
      readonly filename: string;
      readonly file_data?: string;
      readonly file_url?: string;
    };

export interface ReasoningItem {
  readonly id: string;
  readonly type: "reasoning";
  readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
}

/** A call of one of the caller's tools. */
export interface FunctionCallItem {
  readonly id: string;
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: ItemStatus;
}

export interface FunctionOutputItem {
  readonly id: string;
  readonly type: "function_call_output";
  readonly call_id: string;
  readonly output: string;
  readonly status: ItemStatus;
}

/** A call that was run here. */
export interface McpCallItem {
  readonly id: string;
  readonly type: "mcp_call";
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly status: "in_progress" | "completed" | "failed";
  readonly approval_request_id?: string;
}

/** A call that waits for a person. */
export interface ApprovalItem {
  readonly id: string;
  readonly type: "mcp_approval_request";
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
}

export type OutputItem = MessageItem | ReasoningItem | FunctionCallItem | McpCallItem | ApprovalItem;
export type ConversationItem = OutputItem | FunctionOutputItem;

/** The server name under which Parley's own tools are shown. */
const ownServer = "parley";

/** A call of the model. */
export interface CallPart {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly argumentsText: string;
}

/** Makes a text content of the model. */
export function outputText(text: string): ContentPart {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

/** Makes the item of a text of the model. */
export function messageItem(place: ItemPlace, text: string, status: ItemStatus = "completed"): MessageItem {
  return {
    id: itemId("msg", place),
    type: "message",
    status,
    role: "assistant",
    // While it has no text yet, its content is still to be added.
    content: status === "in_progress" ? [] : [outputText(text)],
  };
}

/** Makes the item of a model's reasoning. */
export function reasoningItem(place: ItemPlace, text: string): ReasoningItem {
  return {
    id: itemId("rs", place),
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
  };
}

/** Makes the item of a call that the caller runs. */
export function functionCallItem(
  place: ItemPlace,
  call: CallPart,
  status: ItemStatus = "completed",
): FunctionCallItem {
  return {
    id: itemId("fc", place),
    type: "function_call",
    call_id: call.toolCallId,
    name: call.toolName,
    arguments: status === "in_progress" ? "" : call.argumentsText,
    status,
  };
}

/** Makes the item of a call that is run here; without a result it is in progress. */
export function mcpCallItem(
  place: ItemPlace,
  call: CallPart,
  result?: { readonly content: string; readonly isError: boolean },
  approvalId?: string,
): McpCallItem {
  return {
    id: itemId("mcp", place),
    type: "mcp_call",
    server_label: serverOf(call.toolName),
    name: call.toolName,
    arguments: call.argumentsText,
    output: result === undefined || result.isError ? null : result.content,
    error: result?.isError === true ? result.content : null,
    status: result === undefined ? "in_progress" : result.isError ? "failed" : "completed",
    ...(approvalId === undefined ? {} : { approval_request_id: approvalId }),
  };
}

/** Makes the item that asks for an approval. Its id names the request. */
export function approvalItem(requestId: string, call: CallPart): ApprovalItem {
  return {
    id: `mcpr_${requestId}`,
    type: "mcp_approval_request",
    server_label: serverOf(call.toolName),
    name: call.toolName,
    arguments: call.argumentsText,
  };
}

/** Returns the server of a tool: tools of servers are named `server__tool`; all others are Parley's own. */
function serverOf(toolName: string): string {
  const cut = toolName.indexOf("__");
  return cut > 0 ? toolName.slice(0, cut) : ownServer;
}

/** Makes the item of an output that the caller has handed in. */
export function functionOutputItem(place: ItemPlace, callId: string, output: string): FunctionOutputItem {
  return {
    id: itemId("fco", place),
    type: "function_call_output",
    call_id: callId,
    output,
    status: "completed",
  };
}

/** Makes the item of a message that is not the model's. */
export function inputItem(
  { conversationId, messageId }: { readonly conversationId: string; readonly messageId: string },
  role: "user" | "system",
  chunks: readonly Chunk[],
): MessageItem {
  return {
    id: itemId("msg", { messageId }),
    type: "message",
    status: "completed",
    role,
    content: chunks.flatMap((chunk) => inputContent(conversationId, chunk)),
  };
}

function inputContent(conversationId: string, chunk: Chunk): ContentPart[] {
  if (chunk.type === "text" && chunk.file !== undefined) {
    const { seq = 0, mediaType, name = "file" } = chunk.file;
    const url = fileAddress(conversationId, seq);
    if (mediaType.startsWith("image/")) return [{ type: "input_image", image_url: url, detail: "auto" }];
    return [{ type: "input_file", filename: name, file_url: url }];
  }
  if (chunk.type !== "text" && chunk.type !== "system") return [];
  if (chunk.type === "system" || chunk.inline === undefined)
    return [{ type: "input_text", text: chunk.text }];
  const { mediaType, filename, data, url } = chunk.inline;
  const address = url ?? (data === undefined ? "" : `data:${mediaType};base64,${data}`);
  if (mediaType.startsWith("image/")) return [{ type: "input_image", image_url: address, detail: "auto" }];
  return [
    {
      type: "input_file",
      filename: filename ?? "file",
      ...omitUndefined({ file_url: url }),
      ...(data === undefined ? {} : { file_data: address }),
    },
  ];
}
