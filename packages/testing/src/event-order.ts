import type { AgentEvent, TurnReason, Usage } from "@parley/wire";

/** Expectations on the checked events. */
export interface EventOrderOptions {
  /**
   * The last event of a turn: `turn-sealed` in a conversation's stream, `done` in what the turn loop yields.
   * Default `turn-sealed`.
   */
  readonly lastEvent?: "turn-sealed" | "done";
  /** True if the list may end in the middle of a turn. Default false. */
  readonly unfinished?: boolean;
}

/**
 * Checks events against the order that the protocol guarantees, and returns the violations as text: an empty list
 * means that there are none. Takes the events of any number of turns and conversations, with or without `status`
 * events, from their beginning; unknown kinds are skipped.
 *
 * Per turn: `user-message`, `turn-start`; per step deltas and calls, at most one `usage`, `step-complete`, then
 * requests, their responses, outputs and exactly one result per call, at most one `steering` after them, or, for a
 * step without calls, an `output-invalid`; at most one `error`; `done`; `turn-sealed`. In addition, the events have
 * to agree on: ids of turn, step and calls, reasons, summed usage, the context's size, and `genTotalMs = ttftMs +
 * decodeMs`.
 */
export function checkEventOrder(events: Iterable<AgentEvent>, options: EventOrderOptions = {}): string[] {
  const violations: string[] = [];
  const conversations = new Map<string, ConversationOrder>();
  let index = 0;
  for (const event of events) {
    let order = conversations.get(event.conversationId);
    if (order === undefined) {
      order = new ConversationOrder(options.lastEvent ?? "turn-sealed");
      conversations.set(event.conversationId, order);
    }
    for (const problem of order.take(event)) violations.push(`event ${index} (${event.type}): ${problem}`);
    index += 1;
  }
  if (options.unfinished) return violations;
  for (const order of conversations.values()) {
    for (const problem of order.end()) violations.push(`end: ${problem}`);
  }
  return violations;
}

type TurnEvent = Exclude<AgentEvent, { type: "status" } | { type: "turn-progress" }>;

class ConversationOrder {
  readonly #lastEvent: "turn-sealed" | "done";
  readonly #turnIds = new Set<string>();
  #turn: TurnOrder | undefined;
  #status: string | undefined;
  #lastSeq = 0;

  constructor(lastEvent: "turn-sealed" | "done") {
    this.#lastEvent = lastEvent;
  }

  *take(event: AgentEvent): Iterable<string> {
    if (event.type === "status") {
      yield* this.#statusInside(event);
      this.#status = event.status;
      return;
    }
    if (event.type === "user-message") {
      yield* this.#openTurn(event.turnId);
      return;
    }
    const turn = this.#turn;
    if (turn === undefined) {
      yield "outside a turn: a turn begins with user-message";
      return;
    }
    if (event.turnId !== turn.turnId) yield `of turn ${event.turnId} inside turn ${turn.turnId}`;
    if (event.type === "turn-progress") return;
    yield* turn.take(event);
    if (event.type === "turn-sealed") yield* this.#checkSeqs(event);
    if (event.type === this.#lastEvent) this.#turn = undefined;
  }

  /** Allows inside a turn only a status that reports that it waits, or that it continues. */
  *#statusInside(event: AgentEvent & { type: "status" }): Iterable<string> {
    const turn = this.#turn;
    if (turn === undefined) {
      if (event.waiting !== undefined) yield "waiting outside a turn";
      return;
    }
    const { waiting } = event;
    if (waiting === undefined && !turn.waits) yield `status "${event.status}" inside turn ${turn.turnId}`;
    if (event.status !== "active") yield `status "${event.status}" inside turn ${turn.turnId}`;
    if (waiting !== undefined && waiting.count !== turn.openRequests) {
      yield `waits for ${waiting.count} requests, but ${turn.openRequests} are open`;
    }
    turn.waits = waiting !== undefined;
  }

  *end(): Iterable<string> {
    if (this.#turn !== undefined) yield `turn ${this.#turn.turnId} did not end with ${this.#lastEvent}`;
  }

  *#openTurn(turnId: string): Iterable<string> {
    if (this.#turn !== undefined) yield `turn ${this.#turn.turnId} did not end with ${this.#lastEvent}`;
    if (this.#turnIds.has(turnId)) yield `turn ${turnId} began twice`;
    if (this.#status !== undefined && this.#status !== "active")
      yield `while the status is "${this.#status}"`;
    this.#turnIds.add(turnId);
    this.#turn = new TurnOrder(turnId);
  }

  *#checkSeqs(event: { readonly firstSeq?: number; readonly lastSeq?: number }): Iterable<string> {
    const { firstSeq, lastSeq } = event;
    if (firstSeq === undefined || lastSeq === undefined) return;
    if (firstSeq <= this.#lastSeq)
      yield `firstSeq ${firstSeq} is not behind the last turn's ${this.#lastSeq}`;
    if (lastSeq < firstSeq) yield `lastSeq ${lastSeq} is before firstSeq ${firstSeq}`;
    this.#lastSeq = lastSeq;
  }
}

/** State of a turn between its events. */
type Phase = "opened" | "between-steps" | "generating" | "running-tools" | "failed" | "done";

class TurnOrder {
  readonly turnId: string;
  #phase: Phase = "opened";
  #stepId: string | undefined;
  readonly #stepIds = new Set<string>();
  /** The calls of the current step, true for those that have their result. */
  #calls = new Map<string, boolean>();
  /** The requests of the turn, true for those that have their response. */
  readonly #requests = new Map<string, boolean>();
  /** True if the last status reported that the turn waits. */
  waits = false;
  #steered = false;
  /** True if the step has text; `#reasoned` if it has reasoning. */
  #said = false;
  #reasoned = false;
  /** True if the answer of the step did not match. */
  #rejected = false;
  #usageSeen = false;
  #usages: Usage[] = [];
  /** Usage of the latest step; undefined if that step reported none. */
  #stepUsage: Usage | undefined;
  #reason: string | undefined;

  constructor(turnId: string) {
    this.turnId = turnId;
  }

  get openRequests(): number {
    return [...this.#requests.values()].filter((answered) => !answered).length;
  }

  *take(event: TurnEvent): Iterable<string> {
    if (this.#phase === "opened" && event.type !== "turn-start") yield "before turn-start";
    if (this.#phase === "done" && event.type !== "turn-sealed") yield "behind done";
    if (this.#phase === "failed" && event.type !== "done") yield "between error and done";
    switch (event.type) {
      case "user-message":
        return;
      case "turn-start":
        if (this.#phase !== "opened") yield "not right behind user-message";
        this.#phase = "between-steps";
        return;
      case "text-delta":
        yield* this.#generate(event.stepId);
        this.#said = true;
        return;
      case "reasoning-delta":
        yield* this.#generate(event.stepId);
        this.#reasoned = true;
        return;
      case "tool-call":
        yield* this.#generate(event.stepId);
        // Only in its own step: some models number their calls again in each step.
        if (this.#calls.has(event.toolCallId)) yield `call ${event.toolCallId} came twice`;
        this.#calls.set(event.toolCallId, false);
        return;
      case "usage":
        yield* this.#generate(event.stepId);
        if (this.#usageSeen) yield "twice in one step";
        this.#usageSeen = true;
        this.#usages.push(event.usage);
        this.#stepUsage = event.usage;
        return;
      case "step-complete":
        yield* this.#generate(event.stepId);
        yield* checkTiming(event);
        this.#phase = "running-tools";
        return;
      case "tool-output":
      case "tool-result":
        yield* this.#toolEvent(event);
        return;
      case "input-request":
      case "input-response":
        yield* this.#inputEvent(event);
        return;
      case "output-invalid":
        yield* this.#rejectAnswer(event);
        return;
      case "steering":
        yield* this.#steer();
        return;
      case "error":
        yield* this.#endOfSteps("error");
        this.#phase = "failed";
        return;
      case "done":
        yield* this.#finish(event);
        return;
      case "turn-sealed":
        if (this.#phase !== "done") yield "before done";
        if (event.reason !== undefined && event.reason !== this.#reason) {
          yield `reason ${event.reason}, but done said ${this.#reason}`;
        }
        return;
      default:
        // A kind that was added later: this check does not know its place.
        return event satisfies never;
    }
  }

  /** Checks an event of a step's generation; opens the step if it is the first. */
  *#generate(stepId: string | undefined): Iterable<string> {
    if (this.#phase !== "generating") {
      const open = [...this.#calls].filter(([, answered]) => !answered).map(([id]) => id);
      if (open.length > 0) yield `a new step, but call ${open.join(", ")} has no result`;
      // A step of reasoning alone is left by a node that died in it: the model was called again.
      const isLeft = this.#reasoned && !this.#said;
      if (this.#phase === "running-tools" && this.#calls.size === 0 && !this.#rejected && !isLeft)
        yield "a new step behind a step without calls";
      if (stepId !== undefined && this.#stepIds.has(stepId)) yield `step ${stepId} is already complete`;
      this.#phase = "generating";
      this.#stepId = stepId;
      this.#calls = new Map();
      this.#steered = false;
      this.#said = false;
      this.#reasoned = false;
      this.#rejected = false;
      this.#usageSeen = false;
      this.#stepUsage = undefined;
    }
    this.#stepId ??= stepId;
    if (stepId !== undefined && stepId !== this.#stepId)
      yield `of step ${stepId} inside step ${this.#stepId}`;
    if (stepId !== undefined) this.#stepIds.add(stepId);
  }

  *#toolEvent(event: TurnEvent & { type: "tool-output" | "tool-result" }): Iterable<string> {
    const { toolCallId, stepId } = event;
    if (this.#phase !== "running-tools") yield "before step-complete";
    if (stepId !== undefined && stepId !== this.#stepId)
      yield `of step ${stepId}, but the step is ${this.#stepId}`;
    const answered = this.#calls.get(toolCallId);
    if (answered === undefined) yield `call ${toolCallId} is not of this step`;
    else if (answered) yield `call ${toolCallId} already has its result`;
    if (this.#steered) yield "behind steering";
    if (event.type === "tool-result" && answered !== undefined) this.#calls.set(toolCallId, true);
  }

  *#inputEvent(event: TurnEvent & { type: "input-request" | "input-response" }): Iterable<string> {
    const { requestId, toolCallId } = event.input;
    if (this.#phase !== "running-tools") yield "before step-complete";
    const answered = this.#calls.get(toolCallId);
    if (answered === undefined) yield `call ${toolCallId} is not of this step`;
    if (answered) yield `call ${toolCallId} already has its result`;
    const known = this.#requests.get(requestId);
    if (event.type === "input-request") {
      if (known !== undefined) yield `request ${requestId} came twice`;
      this.#requests.set(requestId, false);
      return;
    }
    if (known === undefined) yield `request ${requestId} is unknown`;
    if (known) yield `request ${requestId} already has its response`;
    this.#requests.set(requestId, true);
  }

  *#steer(): Iterable<string> {
    if (this.#phase !== "running-tools" || this.#calls.size === 0) yield "not at a tool-result boundary";
    if ([...this.#calls.values()].includes(false)) yield "before the last result of its step";
    if (this.#steered) yield "twice at one boundary";
    this.#steered = true;
  }

  *#rejectAnswer({ stepId }: TurnEvent & { type: "output-invalid" }): Iterable<string> {
    if (this.#phase !== "running-tools" || this.#calls.size > 0) yield "not behind a step without calls";
    if (stepId !== this.#stepId) yield `of step ${stepId}, but the step is ${this.#stepId}`;
    if (this.#rejected) yield "twice in one step";
    this.#rejected = true;
  }

  *#endOfSteps(reason: string): Iterable<string> {
    // A step whose node died before completing it has no step-complete.
    if (this.#phase === "generating" && reason !== "interrupted")
      yield `step ${this.#stepId} has no step-complete`;
    const open = [...this.#calls].filter(([, answered]) => !answered).map(([id]) => id);
    // Only calls that do not run here may stay open: they are the caller's.
    if (open.length > 0 && reason !== "tool-calls") yield `call ${open.join(", ")} has no result`;
  }

  *#finish(event: TurnEvent & { type: "done" }): Iterable<string> {
    const failed = this.#phase === "failed";
    const reason: TurnReason | string = event.reason;
    if (!failed) yield* this.#endOfSteps(reason);
    if (failed && reason !== "error") yield `reason ${reason} behind an error`;
    if (!failed && reason === "error") yield "reason error without an error event";
    if (event.usage !== undefined) yield* this.#checkUsage(event.usage);
    else if (this.#usages.length > 0) yield "no usage, although a step reported some";
    const last = this.#stepUsage;
    const contextSize = last === undefined ? undefined : last.inputTokens + last.outputTokens;
    if (event.contextSize !== undefined && contextSize !== undefined && event.contextSize !== contextSize) {
      yield `contextSize ${event.contextSize}, but the last step used ${contextSize}`;
    }
    this.#phase = "done";
    this.#reason = reason;
  }

  *#checkUsage(total: Usage): Iterable<string> {
    for (const counter of counters) {
      const sum = this.#usages.reduce((added, usage) => added + (usage[counter] ?? 0), 0);
      if ((total[counter] ?? 0) !== sum)
        yield `${counter} ${total[counter] ?? 0}, but the steps sum to ${sum}`;
    }
  }
}

const counters = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const satisfies readonly (keyof Usage)[];

function* checkTiming(event: TurnEvent & { type: "step-complete" }): Iterable<string> {
  const { ttftMs, decodeMs, genTotalMs } = event;
  if (ttftMs === undefined || decodeMs === undefined || genTotalMs === undefined) return;
  if (genTotalMs !== ttftMs + decodeMs) yield `genTotalMs ${genTotalMs} is not ${ttftMs} + ${decodeMs}`;
}
