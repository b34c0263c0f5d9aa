import type {
  ErrorCode,
  InputDecision,
  JsonObject,
  OpenUnion,
  QueuePayload,
  TurnReason,
  Usage,
} from "@parley/wire";
import type { UIMessage } from "ai";

/** Metadata of an answer. The figures come with its end. */
export type ParleyMessageMetadata = {
  /** The turn: equal to the message's id. */
  turnId?: string;
  /** The model of the turn, as `credential/model`. */
  model?: string;
  /** Epoch milliseconds. */
  createdAt?: number;
  /** The sum over all steps. Absent: unknown. */
  usage?: Usage;
  /** Tokens that the conversation occupies now. Absent: unknown. */
  contextSize?: number;
  durationMs?: number;
  /** Reason why the turn ended. Absent while it runs or waits. */
  reason?: OpenUnion<TurnReason>;
  /** Present when the turn failed. */
  error?: { code: OpenUnion<ErrorCode>; message: string };
};

/** Messages that joined the running turn. */
export type ParleySteering = { messages: { id: string; text: string }[] };

/**
 * Question that a tool asks while it runs. `POST /conversations/:id/pending/:requestId` answers it; `decision` is set
 * once it is answered.
 */
export type ParleyQuestion = {
  requestId: string;
  toolCallId: string;
  toolName: string;
  reason?: string;
  schema?: JsonObject;
  decision?: OpenUnion<InputDecision>;
};

/**
 * Data parts of Parley: `data-parley-steering` and `data-parley-question` in the answer, `data-parley-queue` for `onData`
 * only.
 */
export type ParleyDataParts = {
  "parley-steering": ParleySteering;
  "parley-question": ParleyQuestion;
  "parley-queue": QueuePayload;
};

/** A message of a Parley chat, for `useChat<ParleyUIMessage>()`. */
export type ParleyUIMessage = UIMessage<ParleyMessageMetadata, ParleyDataParts>;
