import { omitUndefined } from "@parley/fold";
import type { InputRequestEntry, InputResponseEntry } from "@parley/wire";
import type { Clock } from "../../clock.js";
import { ParleyError } from "../../errors.js";
import type { IdFactory } from "../../messages/ids.js";
import { questionRequestId } from "../../messages/input-entry.js";
import { argumentsTextOf, type ToolCallContentPart } from "../../messages/part.js";
import { sha256 } from "../../messages/text/sha256.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";
import { checkPlain } from "../../plain-data.js";
import { denial } from "../approval/decided-answer.js";
import { toolHash } from "../approval/tool-hash.js";
import type { ApprovalAnswer, InputRequest } from "../approval/turn-inputs.js";
import { stepIdOf } from "../run-step.js";
import { requestEntry } from "../step-calls.js";
import type { TurnLimits, TurnSetup } from "../turn.js";
import { validateJsonSchema } from "./json-schema.js";
import type { Tool, ToolAnswer, ToolContext, ToolQuestion } from "./tool.js";
import { boundText } from "./tool-output-bounds.js";

/** The questions of one call. */
export interface QuestionsOfCall {
  readonly ask: NonNullable<ToolContext["ask"]>;
  /** Cancels the unanswered ones, and refuses more. Resolves when the end of each is in the log. */
  end(via: CallEnd): Promise<void>;
}

/**
 * The questions that calls of a step ask while they run. Each is a request like that of a call which waits, but it is
 * bound to the run of its call: it ends with the call, and is not continued after a crash.
 */
export class CallQuestions {
  readonly #setup: TurnSetup;
  readonly #step: StepFrame;
  readonly #listen: () => void;
  readonly #log: (entry: InputRequestEntry | InputResponseEntry) => Promise<void>;
  /** The open questions, by request. */
  readonly #open = new Map<string, (response: InputResponseEntry) => void>();

  constructor(
    setup: TurnSetup,
    step: StepFrame,
    turn: {
      readonly listen: () => void;
      readonly log: (entry: InputRequestEntry | InputResponseEntry) => Promise<void>;
    },
  ) {
    this.#setup = setup;
    this.#step = step;
    this.#listen = turn.listen;
    this.#log = turn.log;
  }

  /** Returns the questions of a call; undefined if there is no one to ask. */
  of(call: ToolCallContentPart, tool: Tool<never>, timeoutMs: number): QuestionsOfCall | undefined {
    const { inputs } = this.#setup;
    if (inputs?.ask === undefined && inputs?.approve === undefined) return undefined;
    const { clock } = this.#step;
    const endsAt = clock.monotonic() + timeoutMs;
    let end: (via: CallEnd) => void = () => {};
    const ended = new Promise<CallEnd>((resolve) => {
      end = resolve;
    });
    let isOver = false;
    const asking = new Set<Promise<void>>();
    return {
      ask: (question) => {
        if (isOver) return Promise.resolve({ status: "canceled" });
        if (asking.size >= mostOpen) return Promise.reject(tooMany());
        const expiresMs = Math.max(1, Math.round(endsAt - clock.monotonic()));
        const asked = { call, tool, question, expiresMs, ended };
        const answer = inputs.ask === undefined ? this.#askHost(asked) : this.#askPeople(asked);
        const done = answer.then(ignore, ignore).finally(() => asking.delete(done));
        asking.add(done);
        return answer;
      },
      end: async (via) => {
        isOver = true;
        end(via);
        await Promise.all(asking);
      },
    };
  }

  /** Applies a response. Returns false if it is not for an open question. */
  answered(response: InputResponseEntry): boolean {
    const answer = this.#open.get(response.requestId);
    answer?.(response);
    return answer !== undefined;
  }

  async #askPeople(asked: AskedQuestion): Promise<ToolAnswer> {
    const request = this.#request(asked);
    const { requestId } = request;
    const decided = new Promise<InputResponseEntry>((resolve) => {
      this.#open.set(requestId, resolve);
    });
    try {
      this.#listen();
      await this.#setup.inputs?.ask?.(request);
      await this.#log(requestEntry(request));
      const given = await Promise.race([decided, asked.ended]);
      const response = typeof given === "string" ? await this.#end(request, given) : given;
      await this.#log(response);
      return answerOf(response);
    } finally {
      this.#open.delete(requestId);
    }
  }

  async #end(request: InputRequest, via: CallEnd): Promise<InputResponseEntry> {
    const { signal, abortReason, inputs } = this.#setup;
    if (signal?.aborted) {
      // The seal records it, with everything else that the turn leaves open.
      return denial(request, (abortReason?.().reason ?? "aborted") === "aborted" ? "stop" : "end");
    }
    const denied = denial(request, via);
    try {
      return (await inputs?.endQuestion?.(denied)) ?? denied;
    } catch {
      // The commit of the step's results records it.
      return denied;
    }
  }

  #request({ call, tool, question, expiresMs }: AskedQuestion): InputRequest {
    const { index, ids, limits } = this.#step;
    const { message, schema } = this.#checked(question, limits.toolOutputBytes);
    const stepId = stepIdOf(this.#setup.turnId, index);
    const argumentsText = argumentsTextOf(call);
    return {
      type: "input-request",
      requestId: questionRequestId(stepId, ids.next()),
      kind: "question",
      toolCallId: call.toolCallId ?? "",
      toolName: tool.name,
      argumentsHash: sha256(argumentsText),
      stepId,
      toolHash: toolHash(tool),
      argumentsText,
      reason: message,
      schema,
      expiresMs,
      expiresAt: this.#step.clock.now() + expiresMs,
    };
  }

  #checked({ message, schema = { type: "string" } }: ToolQuestion, bytes: number): Required<ToolQuestion> {
    if (typeof message !== "string" || message === "") {
      throw new ParleyError("invalid_request", "A question needs a message");
    }
    checkPlain(schema, "schema");
    if (utf8Length(JSON.stringify(schema)) > bytes) {
      throw new ParleyError("too_large", `The schema of a question has more than ${bytes} bytes`);
    }
    return { message: boundText(message, bytes), schema };
  }

  /** Asks the host, if the turn cannot wait: the callback that decides on calls also answers. */
  async #askHost({ call, tool, question, ended }: AskedQuestion): Promise<ToolAnswer> {
    const { conversationId, turnId, owner, signal, inputs } = this.#setup;
    const { message, schema } = this.#checked(question, this.#step.limits.toolOutputBytes);
    const argumentsText = argumentsTextOf(call);
    const request = {
      kind: "question" as const,
      conversationId,
      turnId,
      stepId: stepIdOf(turnId, this.#step.index),
      toolCallId: call.toolCallId ?? "",
      toolName: tool.name,
      arguments: call.arguments,
      argumentsText,
      reason: message,
      schema,
      ...omitUndefined({ owner, signal }),
    };
    const given = await Promise.race([inputs?.approve?.(request), ended]);
    return given === undefined || typeof given === "string"
      ? { status: "canceled" }
      : hostAnswer(given, schema);
  }
}

/** Maximum number of open questions of one call. */
const mostOpen = 16;

function tooMany(): ParleyError {
  return new ParleyError("limit_exceeded", `A call may have at most ${mostOpen} open questions`);
}

/** Reason that a call asks no more: it took too long, or it ended otherwise. */
type CallEnd = "expiry" | "end";

function ignore(): void {}

interface StepFrame {
  readonly index: number;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly limits: TurnLimits;
}

interface AskedQuestion {
  readonly call: ToolCallContentPart;
  readonly tool: Tool<never>;
  readonly question: ToolQuestion;
  readonly expiresMs: number;
  /** Resolves when the call asks no more. */
  readonly ended: Promise<CallEnd>;
}

function answerOf({ decision, value = null, by, note }: InputResponseEntry): ToolAnswer {
  if (decision === "answer") return { status: "answered", value, ...omitUndefined({ note }) };
  return by === undefined ? { status: "canceled" } : { status: "declined", ...omitUndefined({ note }) };
}

function hostAnswer(given: ApprovalAnswer, schema: unknown): ToolAnswer {
  if (given === false) return { status: "declined" };
  if (given === true || given.decision === "allow" || given.decision === "output") {
    return { status: "canceled" };
  }
  if (given.decision === "deny") return { status: "declined", ...omitUndefined({ note: given.note }) };
  const { value } = given;
  const [issue] = validateJsonSchema(schema, value);
  if (issue === undefined) return { status: "answered", value };
  throw new ParleyError("invalid_request", `The answer does not fit: ${issue.path} ${issue.message}`);
}
