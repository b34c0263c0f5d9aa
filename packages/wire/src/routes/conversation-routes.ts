import type { ConversationMeta, ConversationStatus } from "../conversation.js";
import type { ProviderCallInfo } from "../figures/manifest.js";
import type { TurnMetrics } from "../figures/metrics.js";
import type { ReasoningEffort } from "../figures/usage.js";
import type { WaitingInfo } from "../input/input-entry.js";
import type { JsonObject, OpenUnion } from "../json.js";
import type { TurnProgress } from "../log/agent-event.js";
import type { Cursor } from "../log/cursor.js";
import type { StoredChunk } from "../log/stored-chunk.js";
import type { TurnReason } from "../log/turn-reason.js";
import type { QueuePayload } from "../queue.js";
import type { SentPart } from "./send-message.js";

/** `POST /conversations`. Idempotent by `id`. */
export interface CreateConversationRequest {
  /** At most 128 of `A-Za-z0-9._:-`, and not `.` or `..` alone. Absent: the server creates one. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  /** The application's own data; stored and returned, never read. */
  readonly metadata?: JsonObject | undefined;
  readonly model?: string | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly instructions?: string | undefined;
  /** Makes it temporary: see `TemporarySetting`. */
  readonly temporary?: boolean | undefined;
}

/** The conversation, new or existing. */
export interface CreateConversationResponse {
  readonly conversation: ConversationMeta;
  /** False if it already existed. */
  readonly created: boolean;
}

/** `GET /conversations`: newest activity first, without archives and temporary conversations. */
export interface ListConversationsQuery {
  /** The start of an id, or a part of a title. */
  readonly q?: string | undefined;
  /** Only conversations with one of these statuses; in the URL, a comma-separated list. Absent: all. */
  readonly status?: readonly ConversationStatus[] | undefined;
  /** Only the direct forks of this conversation, temporary ones included, not their forks. */
  readonly parent?: string | undefined;
  /** Only those whose next turn uses this model where it names none: see `effective`. */
  readonly model?: string | undefined;
  /** `first`: all pinned ones come before all others, however old they are. */
  readonly pinned?: "first" | undefined;
  readonly limit?: number | undefined;
  /** `nextBefore` of the previous page. */
  readonly before?: string | undefined;
}

/** One page of conversations. */
export interface ListConversationsResponse {
  readonly conversations: readonly ConversationMeta[];
  /** Start of the next page. Opaque; absent on the last page. */
  readonly nextBefore?: string;
}

/**
 * `GET /conversations/:id`: the chunks with `sinceSeq < seq < beforeSeq`, always ascending. Of sealed turns
 * only, unless `open` is set. An id without a conversation is unknown, but with `sinceSeq` it is an empty
 * log: so a client can follow a conversation that its first message will create.
 */
export interface HistoryQuery {
  readonly sinceSeq?: number | undefined;
  readonly beforeSeq?: number | undefined;
  /** Keeps only this many of the newest in the range. */
  readonly limit?: number | undefined;
  /** True to include the committed chunks of the open turn. */
  readonly open?: boolean | undefined;
}

/** A window of the log, as stored. */
export interface HistoryResponse {
  readonly chunks: readonly StoredChunk[];
  /** The last chunk's seq, or `sinceSeq` if nothing is newer: the `sinceSeq` of the next request. */
  readonly latestSeq: number;
  /**
   * Cursor to continue from after this page; its newest turn is sent again as a whole. Absent on an empty
   * page.
   */
  readonly cursor?: Cursor;
}

/** The running turn. */
export interface ActiveTurn {
  readonly turnId: string;
  readonly model?: string;
  /** Epoch milliseconds. */
  readonly startedAt?: number;
  /** The turn's state while no part of its answer arrives, as far as the responding node knows it. */
  readonly progress?: TurnProgress;
}

/** `GET /conversations/:id/meta`: the metadata and the current activity, read at one point in time. */
export interface ConversationDetail extends ConversationMeta {
  /** Absent if no turn runs. */
  readonly activeTurn?: ActiveTurn;
  /** Tokens in context after the newest turn. Absent: unknown. */
  readonly contextSize?: number;
  /** The context window of the next turn's model. */
  readonly contextWindow?: number;
  readonly queue: QueuePayload;
  /** Subscribe with it to continue from exactly this state. */
  readonly cursor: Cursor;
  readonly metadata?: JsonObject;
}

/** `GET /conversations/:id/events`: server-sent events from the cursor on. `Last-Event-ID` overrides it. */
export interface EventsQuery {
  readonly cursor?: string | undefined;
}

/** `GET /conversations/:id/metrics`: of all sealed turns, unless one of these is given. */
export interface MetricsQuery {
  /** Keeps only this many of the newest. */
  readonly limit?: number | undefined;
  /** Only the turns before this one; `nextBefore` of the previous page. */
  readonly before?: string | undefined;
}

/** Metrics of the sealed turns, in order. */
export interface MetricsResponse {
  readonly turns: readonly TurnMetrics[];
  /** Start of the page of earlier turns. Absent if there are none, or no limit was given. */
  readonly nextBefore?: string;
}

/** `GET /conversations/:id/last`: waits for a running turn to be sealed, or to wait for input. */
export interface LastResponse {
  readonly conversationId: string;
  /** The text of the last assistant message; empty if there is none yet. */
  readonly text: string;
  /** The same as `text`. */
  readonly content: string;
  /** The turn it belongs to. Absent if there is none yet. */
  readonly turnId?: string;
  readonly reason?: OpenUnion<TurnReason>;
  /** Set while the newest turn waits for input: it continues when a request is answered. */
  readonly waiting?: WaitingInfo;
}

/** `POST /conversations/:id/stop`. Idempotent. */
export interface StopResponse {
  readonly conversationId: string;
  /** True if a running turn is now being stopped. Its partial answer is kept. */
  readonly abortedTurn: boolean;
}

/** `POST /conversations/:id/close`: stops a running turn, pauses the queue and hides the conversation. */
export interface CloseResponse {
  readonly conversationId: string;
  readonly abortedTurn: boolean;
}

/** `POST /conversations/:id/open`: notifies every connected client to show the conversation. */
export interface OpenResponse {
  readonly conversationId: string;
}

/** `POST /conversations/:id/fork`: a new conversation that shares the log up to `atSeq`. Idempotent by `id`. */
export interface ForkRequest {
  /** The last seq to share: the end of a sealed turn, or 0 for none. */
  readonly atSeq: number;
  /** The new conversation's id. Absent: the server creates one. */
  readonly id?: string | undefined;
  /** Opens a turn in the fork at once. Forking before a user message this way edits or regenerates it. */
  readonly message?: string | undefined;
  /** Parts that follow the message, in order; it may be empty then. Not without `message`. */
  readonly parts?: readonly SentPart[] | undefined;
  readonly messageId?: string | undefined;
  readonly model?: string | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
}

/** The fork. */
export interface ForkResponse {
  readonly conversation: ConversationMeta;
  /** The turn that `message` opened. */
  readonly turnId?: string;
}

/** `GET /conversations/:id/turns/:turnId`: all data of a turn. */
export interface TurnDetail {
  readonly conversationId: string;
  readonly turnId: string;
  readonly status: "running" | "waiting" | "sealed";
  readonly reason?: OpenUnion<TurnReason>;
  readonly model?: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Epoch milliseconds. */
  readonly sealedAt?: number;
  /** The committed messages of the turn, part by part. */
  readonly chunks: readonly StoredChunk[];
  /** The calls to providers, in order, each with its manifest. */
  readonly providerCalls: readonly ProviderCallInfo[];
  /** Present once the turn is sealed. */
  readonly metrics?: TurnMetrics;
}

/** `DELETE /conversations/:id`. Always succeeds. */
export interface DeleteQuery {
  /** Also deletes its forks. Without it they remain, with the part of the log that they share. */
  readonly cascade?: boolean | undefined;
}

/** Result of a deletion. */
export interface DeleteResponse {
  readonly conversationId: string;
  /** The deleted ids: the conversation, its archives and, with `cascade`, its forks. */
  readonly deletedIds: readonly string[];
}
