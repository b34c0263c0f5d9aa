import { isRequestOfCall, omitUndefined } from "@parley/core/messages";
import type {
  AgentEvent,
  InputRequestEntry,
  InputResponseEntry,
  SourceChunk,
  TurnDoneEvent,
  TurnErrorEvent,
  TurnReasoningDeltaEvent,
  TurnSealedEvent,
  TurnTextDeltaEvent,
  TurnToolCallEvent,
  TurnToolResultEvent,
} from "@parley/wire";
import { type FinishReason, questionType, steeringType, type UiChunk } from "./ui-chunk.js";

/** Number of characters shown of a running tool's output: the newest. */
const printedCharacters = 2_000;

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls",
};

/** A call of the current step, and the input that it waits for. */
interface ProjectedCall {
  readonly call: TurnToolCallEvent;
  request?: InputRequestEntry;
  response?: InputResponseEntry;
  printed: string;
  hasResult: boolean;
}

/**
 * Turns the events of one turn into the chunks of one assistant message, whose id is the turn's. This conversion has
 * no second copy: the live stream, a replay and the history are all made from its chunks, and the same turn gives the
 * same message however its text was cut into deltas.
 *
 * Calls are held until their step's generation ends, because a replay has a message's text before its calls. The parts
 * of a step end together, because text and reasoning may interleave. `finish` and `error` come with `turn-sealed`:
 * what a client sees as final is durable.
 */
export class TurnProjection {
  readonly #turnId: string;
  #chunks: UiChunk[] = [];
  #createdAt: number | undefined;
  #hasStarted = false;
  #stepId: string | undefined;
  /** Open text and reasoning parts of the current step, by their place in the message. */
  readonly #open = new Map<string, { readonly id: string; readonly kind: "text" | "reasoning" }>();
  #parts = 0;
  #cited = 0;
  #held: TurnToolCallEvent[] = [];
  /** Calls by step and id: providers may use an id again in a later step. */
  readonly #calls = new Map<string, ProjectedCall>();
  readonly #questions = new Map<string, InputRequestEntry>();
  #failure: TurnErrorEvent | undefined;
  #done: TurnDoneEvent | undefined;

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  /** Takes the next event of the turn; returns its chunks. */
  next(event: AgentEvent): readonly UiChunk[] {
    this.#chunks = [];
    this.#apply(event);
    return this.#chunks;
  }

  #apply(event: AgentEvent): void {
    switch (event.type) {
      case "user-message":
        this.#createdAt = event.createdAt;
        return;
      case "turn-start":
        this.#start(event.model);
        return;
      case "text-delta":
        this.#grow("text", event);
        return;
      case "reasoning-delta":
        this.#grow("reasoning", event);
        return;
      case "tool-call":
        this.#enterStep(event.stepId);
        this.#held.push(event);
        return;
      case "step-complete":
        if (event.stepId !== this.#stepId) return;
        this.#settleStep();
        for (const source of event.sources ?? []) this.#cite(source);
        return;
      case "tool-output":
        this.#print(event.stepId ?? this.#stepId, event.toolCallId, event.data);
        return;
      case "tool-result":
        this.#showResult(event);
        return;
      case "input-request":
        this.#request(event.stepId, event.input);
        return;
      case "input-response":
        this.#respond(event.stepId, event.input);
        return;
      case "steering": {
        const id = event.messageIds?.[0] ?? `${this.#turnId}.steering`;
        const messages = event.messages ?? [{ messageId: id, text: event.text }];
        const data = { messages: messages.map(({ messageId, text }) => ({ id: messageId, text })) };
        this.#settleStep();
        this.#emit({ type: steeringType, id, data });
        return;
      }
      case "error":
        this.#failure = event;
        return;
      case "done":
        this.#done = event;
        return;
      case "turn-sealed":
        this.#finish(event);
        return;
      case "status":
        if (event.waiting?.turnId === this.#turnId) this.#wait();
        return;
      case "output-invalid":
      case "turn-progress":
      case "usage":
        return;
      default:
        event satisfies never;
    }
  }

  #emit(chunk: UiChunk): void {
    if (!this.#hasStarted) this.#start(undefined);
    this.#chunks.push(chunk);
  }

  #start(model: string | undefined): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const messageMetadata = { turnId: this.#turnId, ...omitUndefined({ model, createdAt: this.#createdAt }) };
    this.#chunks.push({ type: "start", messageId: this.#turnId, messageMetadata });
  }

  #enterStep(stepId: string): void {
    if (this.#stepId === stepId) return;
    this.#leaveStep();
    this.#stepId = stepId;
    this.#emit({ type: "start-step" });
  }

  /** Ends the growing parts of the current step, and shows its calls. */
  #settleStep(): void {
    for (const { id, kind } of this.#open.values()) this.#emit({ type: `${kind}-end`, id });
    this.#open.clear();
    const held = this.#held;
    this.#held = [];
    for (const call of held) {
      this.#calls.set(callKey(call.stepId, call.toolCallId), { call, printed: "", hasResult: false });
      this.#showCall(call, true);
    }
  }

  #leaveStep(): void {
    if (this.#stepId === undefined) return;
    this.#settleStep();
    this.#stepId = undefined;
    this.#emit({ type: "finish-step" });
  }

  #grow(kind: "text" | "reasoning", event: TurnTextDeltaEvent | TurnReasoningDeltaEvent): void {
    const { delta, stepId = "", messageId = "", partIndex = 0 } = event;
    // An empty one carries data for the provider only.
    if (delta === "") return;
    this.#enterStep(stepId);
    const key = `${messageId} ${partIndex} ${kind}`;
    let part = this.#open.get(key);
    if (part === undefined) {
      part = { id: `${this.#turnId}.${this.#parts}`, kind };
      this.#parts += 1;
      this.#open.set(key, part);
      this.#emit({ type: `${kind}-start`, id: part.id });
    }
    this.#emit({ type: `${kind}-delta`, id: part.id, delta });
  }

  #cite({ id, title, url }: SourceChunk): void {
    this.#cited += 1;
    if (url === undefined) return;
    const sourceId = id ?? `${this.#turnId}.source.${this.#cited}`;
    this.#emit({ type: "source-url", sourceId, url, ...omitUndefined({ title }) });
  }

  /** `isOurs`: the server runs it, and the page is kept from doing so. */
  #showCall({ toolCallId, toolName, input }: TurnToolCallEvent, isOurs: boolean): void {
    this.#emit({
      type: "tool-input-available",
      toolCallId,
      toolName,
      // A value that JSON cannot represent is left out of the frame, and the client refuses a call without input.
      input: input ?? {},
      dynamic: true,
      providerExecuted: isOurs,
    });
  }

  #callOf(stepId: string | undefined, toolCallId: string): ProjectedCall | undefined {
    if (stepId !== undefined && stepId === this.#stepId) this.#settleStep();
    return this.#calls.get(callKey(stepId ?? "", toolCallId));
  }

  #print(stepId: string | undefined, toolCallId: string, data: string): void {
    const known = this.#callOf(stepId, toolCallId);
    if (known === undefined || known.hasResult) return;
    known.printed = (known.printed + data).slice(-printedCharacters);
    this.#emit({
      type: "tool-output-available",
      toolCallId,
      output: known.printed,
      dynamic: true,
      preliminary: true,
    });
  }

  #request(stepId: string, request: InputRequestEntry): void {
    const known = this.#callOf(stepId, request.toolCallId);
    if (known === undefined) return;
    if (!isRequestOfCall(stepId, request.requestId)) {
      this.#ask(request, {});
      return;
    }
    known.request = request;
    // A page runs its own tool when it is shown the call: only while the turn waits for it, and not in a replay.
    if (request.kind !== "approval") return;
    const { requestId: approvalId, toolCallId } = request;
    this.#showCall(known.call, false);
    this.#emit({ type: "tool-approval-request", approvalId, toolCallId });
  }

  #respond(stepId: string, response: InputResponseEntry): void {
    const known = this.#callOf(stepId, response.toolCallId);
    if (known === undefined) return;
    if (isRequestOfCall(stepId, response.requestId)) known.response = response;
    else this.#ask(this.#questions.get(response.requestId), { decision: response.decision });
  }

  /** Shows a question that a call asks while it runs; the same part shows the answer. */
  #ask(question: InputRequestEntry | undefined, answer: { readonly decision?: string }): void {
    if (question === undefined) return;
    const { requestId, toolCallId, toolName, reason, schema } = question;
    this.#questions.set(requestId, question);
    const data = { requestId, toolCallId, toolName, ...omitUndefined({ reason, schema }), ...answer };
    this.#emit({ type: questionType, id: requestId, data });
  }

  #showResult(event: TurnToolResultEvent): void {
    const { stepId, toolCallId, content, isError } = event;
    const known = this.#callOf(stepId, toolCallId);
    if (known === undefined || known.hasResult) return;
    known.hasResult = true;
    const { request, response } = known;
    const isDenied = response?.decision === "deny";
    if (isDenied && request?.kind === "approval") {
      this.#emit({ type: "tool-output-denied", toolCallId });
      return;
    }
    // Calls of a page are not the server's, even if the page was not shown them again.
    const own = request === undefined ? {} : { providerExecuted: false };
    if (isError) {
      this.#emit({ type: "tool-output-error", toolCallId, errorText: content, dynamic: true, ...own });
      return;
    }
    // A page gets the output that it sent, not the text that the model is shown of it.
    const output = response?.decision === "output" ? (response.value ?? content) : content;
    this.#emit({ type: "tool-output-available", toolCallId, output, dynamic: true, ...own });
  }

  /** Ends the stream, not the message: it continues when a request is answered. */
  #wait(): void {
    if (!this.#hasStarted) this.#start(undefined);
    this.#settleStep();
    for (const { call, request, response } of this.#calls.values()) {
      if (request !== undefined && request.kind !== "approval" && response === undefined) {
        this.#showCall(call, false);
      }
    }
    this.#leaveStep();
    this.#emit({ type: "finish", finishReason: "tool-calls" });
  }

  #finish(event: TurnSealedEvent): void {
    this.#leaveStep();
    const { usage, contextSize, durationMs, reason = event.reason ?? "stop" } = this.#done ?? {};
    const figures = omitUndefined({ usage, contextSize, durationMs, reason });
    if (this.#failure !== undefined || reason === "error") {
      const { message = "The turn failed", code = "internal" } = this.#failure ?? {};
      // A client reads nothing after an error.
      const messageMetadata = { ...figures, error: { code, message } };
      this.#emit({ type: "message-metadata", messageMetadata });
      this.#emit({ type: "error", errorText: message });
      return;
    }
    if (reason === "aborted") this.#emit({ type: "abort" });
    const finishReason = finishReasons[reason] ?? "other";
    this.#emit({ type: "finish", finishReason, messageMetadata: figures });
  }
}

function callKey(stepId: string, toolCallId: string): string {
  return `${stepId} ${toolCallId}`;
}
