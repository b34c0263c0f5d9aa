import type { JsonObject, JsonValue, OpenUnion } from "../json.js";
import type { StepId } from "../log/ids.js";
import type { GrantScope, InputActor, InputDecision, InputKind, InputResponseEntry } from "./input-entry.js";

/** Path parameters of a route to one request. */
export interface PendingParams {
  readonly id: string;
  readonly requestId: string;
}

/** Path parameters of a route to one standing approval. */
export interface GrantParams {
  readonly id: string;
}

/** `GET /pending`. */
export interface PendingQuery {
  /** Only the requests of this conversation. */
  readonly conversationId?: string | undefined;
  /** Default 100, at most 500; fewer if their arguments are long. */
  readonly limit?: number | undefined;
  /** `nextAfter` of the previous page. */
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
  /** The exact arguments that will run, byte for byte. */
  readonly argumentsText: string;
  /** SHA-256 of `argumentsText`: send it back with an approval. */
  readonly argumentsHash: string;
  /** Reason for the request; for a question, the question itself. */
  readonly reason?: string;
  /** JSON Schema of the answer, for a question. */
  readonly schema?: JsonObject;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; unanswered by then, it is denied. */
  readonly expiresAt?: number;
  /** True if an approval also applies to later calls of the tool in this conversation. */
  readonly remember?: true;
}

/** Unanswered requests, oldest first. */
export interface PendingResponse {
  readonly pending: readonly PendingRequest[];
  /** Start of the next page. Opaque; absent on the last page. */
  readonly nextAfter?: string;
}

/**
 * `POST /conversations/:id/pending/:requestId` and `chat.respond`: answers a request. The first response
 * wins: repeating it gets the same result, a different one is `already_decided`, and the problem names the
 * decision in force.
 */
export interface RespondRequest {
  /** `allow` or `deny` for an approval, `answer` or `deny` for a question, `output` or `deny` for a tool of the caller. */
  readonly decision: InputDecision;
  /** The request's hash, with `allow`: the approval is valid for these arguments only. */
  readonly argumentsHash?: string | undefined;
  /**
   * Other arguments to run the call with. The model's own call stays unchanged; the result describes the
   * change.
   */
  readonly arguments?: JsonValue | undefined;
  /** The same as text, byte for byte what will run. Overrides `arguments`. */
  readonly argumentsText?: string | undefined;
  /** The answer to a question, or the output of the caller's tool. */
  readonly value?: JsonValue | undefined;
  /** With `output`: true if the caller's tool failed; `value` describes the failure. */
  readonly isError?: boolean | undefined;
  /** For the model and for people. */
  readonly note?: string | undefined;
  /** With `allow`: applies the approval to later calls. */
  readonly scope?: GrantScope | undefined;
}

/** The response in force. */
export interface RespondResponse {
  readonly conversationId: string;
  readonly requestId: string;
  /** True if the same response was recorded before. */
  readonly repeated: boolean;
  readonly response: InputResponseEntry;
}

/** A standing approval. */
export interface GrantInfo {
  readonly id: string;
  readonly toolName: string;
  readonly scope: GrantScope;
  /** Set if the scope is a conversation. */
  readonly conversationId?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The request that it was granted with. */
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
  /** False if there was none. */
  readonly removed: boolean;
}

/** A tool that a turn may be offered. */
export interface ToolInfo {
  readonly name: string;
  readonly description?: string;
  readonly origin: OpenUnion<"builtin" | "host" | "mcp" | "caller">;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject;
  /**
   * Approval policy of its calls; `policy`: the tool decides for each call. Rules of the server may be
   * stricter.
   */
  readonly approval: OpenUnion<"never" | "once" | "always" | "policy">;
  /** Set if the result comes from outside. */
  readonly answeredBy?: OpenUnion<"person" | "caller">;
}

/** A server that provides tools. */
export interface ToolServerInfo {
  /** Prefix of its tools' names, followed by two underscores. */
  readonly name: string;
  readonly transport: OpenUnion<"stdio" | "http">;
  /**
   * Its tools are absent while it is not `ready`. It is reconnected automatically, except if it is
   * `unconnected`: its owner has to log in there.
   */
  readonly state: OpenUnion<"connecting" | "ready" | "failed" | "unconnected">;
  /** The number of its tools that are offered. */
  readonly tools: number;
  /** Reason why it failed, as reported by the server. */
  readonly problem?: string;
  /** Set if each owner logs in: state and tools are those of the caller. */
  readonly auth?: OpenUnion<"oauth">;
}

/** A server of tools, by its name. */
export interface ToolServerParams {
  readonly server: string;
}

/** `POST /tools/:server/connect`: starts a login at a server of tools. */
export interface ConnectToolServerRequest {
  /**
   * Address that the browser returns to: `/oauth/callback` of this server, which is the default, or an
   * address on the caller's own machine; then the caller finishes the login itself.
   */
  readonly redirectUrl?: string | undefined;
}

/** A login that was started. */
export interface ConnectToolServerResponse {
  /** For a person to open. */
  readonly authorizationUrl: string;
  /** Epoch milliseconds: it must be finished by then. */
  readonly expiresAt: number;
}

/**
 * `POST /tools/:server/finish`: the parameters that the browser returned, sent by the caller that started the
 * login.
 */
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
  /** False if there was no login. */
  readonly removed: boolean;
}

/** `GET /tools`. */
export interface ToolsResponse {
  readonly tools: readonly ToolInfo[];
  /** The servers that provide tools, if any. */
  readonly servers?: readonly ToolServerInfo[];
}

/** A tool of the caller: the turn waits for its output. */
export interface CallerTool {
  /** 1 to 64 of `A-Za-z0-9_-`, and not a name of the server's own tools. */
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject | undefined;
}
