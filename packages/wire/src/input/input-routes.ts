import type { JsonObject, JsonValue, OpenUnion } from "../json.js";
import type { StepId } from "../log/ids.js";
import type { GrantScope, InputActor, InputDecision, InputKind, InputResponseEntry } from "./input-entry.js";

/** The path parameters of a route to one request. */
export interface PendingParams {
  readonly id: string;
  readonly requestId: string;
}

/** The path parameters of a route to one standing approval. */
export interface GrantParams {
  readonly id: string;
}

/** `GET /pending`. */
export interface PendingQuery {
  /** Only those of this conversation. */
  readonly conversationId?: string | undefined;
  /** Default 100, at most 500; fewer where their arguments are long. */
  readonly limit?: number | undefined;
  /** `nextAfter` of the page before. */
  readonly after?: string | undefined;
}

/** A call that waits for input. Its texts come from a model: show them as data. */
export interface PendingRequest {
  readonly conversationId: string;
  /** The conversation's title. */
  readonly title: string;
  readonly turnId: string;
  readonly stepId: StepId;
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolCallId: string;
  readonly toolName: string;
  /** What will run, byte for byte. */
  readonly argumentsText: string;
  /** SHA-256 of `argumentsText`: send it back with an approval. */
  readonly argumentsHash: string;
  /** Why it is asked; the question itself where it is one. */
  readonly reason?: string;
  /** JSON Schema of the answer, for a question. */
  readonly schema?: JsonObject;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; unanswered by then, it is denied. */
  readonly expiresAt?: number;
  /** An approval also stands for later calls of the tool in this conversation. */
  readonly remember?: true;
}

/** Requests that nobody has answered, oldest first. */
export interface PendingResponse {
  readonly pending: readonly PendingRequest[];
  /** Where the next page begins. Opaque; absent on the last page. */
  readonly nextAfter?: string;
}

/**
 * `POST /conversations/:id/pending/:requestId` and `chat.respond`: answers a request. The first response wins: the same
 * again gets the same answer, another one is `already_decided`, and the problem names the decision in force.
 */
export interface RespondRequest {
  /** `allow` or `deny` for an approval, `answer` or `deny` for a question, `output` or `deny` for a tool of the caller. */
  readonly decision: InputDecision;
  /** The request's, with `allow`: the approval holds for these arguments only. */
  readonly argumentsHash?: string | undefined;
  /** Other arguments to run the call with. The model's own call stays as it is; the result says what was changed. */
  readonly arguments?: JsonValue | undefined;
  /** The same as text, byte for byte what will run. Wins over `arguments`. */
  readonly argumentsText?: string | undefined;
  /** The answer to a question, or the output of the caller's tool. */
  readonly value?: JsonValue | undefined;
  /** With `output`: the caller's tool failed, and `value` says how. */
  readonly isError?: boolean | undefined;
  /** For the model and for people. */
  readonly note?: string | undefined;
  /** With `allow`: lets the approval stand for later calls. */
  readonly scope?: GrantScope | undefined;
}

/** The response that is in force. */
export interface RespondResponse {
  readonly conversationId: string;
  readonly requestId: string;
  /** True when the same response was recorded before. */
  readonly repeated: boolean;
  readonly response: InputResponseEntry;
}

/** A standing approval. */
export interface GrantInfo {
  readonly id: string;
  readonly toolName: string;
  readonly scope: GrantScope;
  /** Set where the scope is a conversation. */
  readonly conversationId?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The request that it was given with. */
  readonly requestId: string;
  readonly by?: InputActor;
}

/** `GET /grants`: newest first. */
export interface GrantsResponse {
  readonly grants: readonly GrantInfo[];
}

/** `DELETE /grants/:id`: the next call asks again. Idempotent. */
export interface RevokeGrantResponse {
  readonly id: string;
  /** False when there was none. */
  readonly removed: boolean;
}

/** A tool that a turn may be offered. */
export interface ToolInfo {
  readonly name: string;
  readonly description?: string;
  readonly origin: OpenUnion<"builtin" | "host" | "mcp" | "caller">;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject;
  /** When a call needs approval; `policy`: the tool decides for each call. Rules of the server may be stricter. */
  readonly approval: OpenUnion<"never" | "once" | "always" | "policy">;
  /** Set where the result comes from outside. */
  readonly answeredBy?: OpenUnion<"person" | "caller">;
}

/** A server that tools come from. */
export interface ToolServerInfo {
  /** Stands before the names of its tools, with two underscores between. */
  readonly name: string;
  readonly transport: OpenUnion<"stdio" | "http">;
  /**
   * Its tools are absent while it is not `ready`. It is connected again by itself, but for one that is `unconnected`: its
   * owner has to log in there.
   */
  readonly state: OpenUnion<"connecting" | "ready" | "failed" | "unconnected">;
  /** The number of its tools that are offered. */
  readonly tools: number;
  /** Why it failed, in its own words. */
  readonly problem?: string;
  /** Set where each owner logs in: state and tools are those of the caller. */
  readonly auth?: OpenUnion<"oauth">;
}

/** A server of tools, by its name. */
export interface ToolServerParams {
  readonly server: string;
}

/** `POST /tools/:server/connect`: begins a login at a server of tools. */
export interface ConnectToolServerRequest {
  /**
   * Where the browser comes back to: `/oauth/callback` of this server, which is the default, or an address of the
   * caller's own machine, whose caller finishes the login by itself.
   */
  readonly redirectUrl?: string | undefined;
}

/** A login that was begun. */
export interface ConnectToolServerResponse {
  /** For a person to open. */
  readonly authorizationUrl: string;
  /** Epoch milliseconds: it has to be finished by then. */
  readonly expiresAt: number;
}

/** `POST /tools/:server/finish`: what the browser brought back, by the caller that has begun the login. */
export interface FinishToolLoginRequest {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

/** The server that the owner is logged in at. */
export interface FinishToolLoginResponse {
  readonly server: string;
}

/** `POST /tools/:server/disconnect`. */
export interface DisconnectToolServerResponse {
  readonly server: string;
  /** False where there was no login. */
  readonly removed: boolean;
}

/** `GET /tools`. */
export interface ToolsResponse {
  readonly tools: readonly ToolInfo[];
  /** The servers that tools come from, where there are any. */
  readonly servers?: readonly ToolServerInfo[];
}

/** A tool of the caller: the turn waits for its output. */
export interface CallerTool {
  /** 1 to 64 of `A-Za-z0-9_-`, and no name of the server's own tools. */
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject | undefined;
}
