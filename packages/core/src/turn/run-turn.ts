import type { InputResponseEntry, StepMetrics, TurnReason } from "@parley/wire";
import { type Clock, systemClock } from "../clock.js";
import { ParleyError, toParleyError } from "../errors.js";
import { createUuidV7Factory, type IdFactory } from "../messages/ids.js";
import { inputMessage } from "../messages/input-entry.js";
import type { ConversationMessage, TokenUsage } from "../messages/message.js";
import { outputEntryOfMessage, outputMessage } from "../messages/output-entry.js";
import type { ToolCallContentPart } from "../messages/part.js";
import type { ProviderCallParams, ProviderCallRecord, ProviderFinishReason } from "../ports.js";
import { askAboutCalls } from "./approval/ask-calls.js";
import type { AskedCall, InputRequest } from "./approval/turn-inputs.js";
import { answerText, failedAttempts, outputEntry, outputErrors } from "./output/output.js";
import { runStep, stepIdOf } from "./run-step.js";
import { noteTools, ownCalls, requestEntry, withToolDefinitions } from "./step-calls.js";
import { interruptCalls, runTools, type ToolsResult } from "./tools/run-tools.js";
import type { Tool } from "./tools/tool.js";
import {
  defaultTurnLimits,
  type StepCommit,
  type StepCommitted,
  type TurnLimits,
  type TurnListener,
  type TurnOutcome,
  type TurnSetup,
  type TurnStream,
} from "./turn.js";
import { TurnEvents } from "./turn-events.js";
import { doneEvent, inputEvent, steeringEvent } from "./turn-frame-events.js";
import { type Ending, modelOf, outcomeOf } from "./turn-outcome.js";

const defaultIds = createUuidV7Factory();

/**
 * Runs one turn, from the user's message to `done`: calls the model, commits its message, runs its tools, commits
 * their results together with steering messages, and repeats this until the model calls no tool.
 *
 * The loop knows no store. Durable data goes through `setup.sink`, in this order: the assistant message of a step
 * with calls is committed before any of its tools starts; the results of a step are committed before the next one.
 * The messages of the last step are returned as `uncommitted`, for the caller to write with its seal.
 *
 * Calls that need input are committed with the assistant message as requests. The others run meanwhile; when only
 * undecided ones are left, the turn ends as `waiting` with that commit, and continues in a resumed turn.
 *
 * Events go to `emit`, one after the other, and the loop waits if `emit` returns a promise. It rejects only if `emit`
 * does. A failure is emitted as `error`, and like a stop it keeps what exists and answers every open call.
 */
export async function driveTurn(setup: TurnSetup, emit: TurnListener): Promise<TurnOutcome> {
  return new TurnLoop(setup, emit).run();
}

/** A running turn: the messages it has made so far, and its state. */
class TurnLoop {
  readonly #setup: TurnSetup;
  readonly #emit: TurnListener;
  readonly #clock: Clock;
  readonly #ids: IdFactory;
  readonly #limits: TurnLimits;
  readonly #openedAt: number;
  #tools: readonly Tool<never>[];
  #params: Omit<ProviderCallParams, "messages">;

  readonly #messages: ConversationMessage[];
  readonly #providerCalls: ProviderCallRecord[];
  readonly #steps: StepMetrics[];
  /** Number of messages that are written. */
  #committed: number;
  #stepIndex: number;
  /** The calls of the step that have not been run, and what is known of them from before. */
  #calls: readonly ToolCallContentPart[];
  #settled: readonly ConversationMessage[];
  /** Those of the calls that wait for input. */
  #asked: ReadonlyMap<ToolCallContentPart, AskedCall>;
  /** True if the step has calls that are left to the caller. */
  #leavesCalls = false;
  #lastUsage: TokenUsage | undefined;

  constructor(setup: TurnSetup, emit: TurnListener) {
    const { resume } = setup;
    this.#setup = setup;
    this.#emit = emit;
    this.#clock = setup.clock ?? systemClock;
    this.#ids = setup.ids ?? defaultIds;
    this.#limits = limitsOf(setup);
    this.#openedAt = this.#clock.monotonic() - (resume?.elapsedMs ?? 0);
    this.#tools = setup.tools ?? [];
    this.#params = withToolDefinitions(setup, this.#tools);
    this.#messages = [...(resume?.messages ?? [])];
    this.#providerCalls = [...(resume?.providerCalls ?? [])];
    this.#steps = [...(resume?.steps ?? [])];
    this.#committed = this.#messages.length;
    this.#messages.push(...(resume?.unwritten ?? []));
    this.#stepIndex = resume?.stepIndex ?? 0;
    this.#calls = resume?.pendingCalls ?? [];
    this.#settled = resume?.settled ?? [];
    this.#asked = resume?.asked ?? new Map();
    this.#lastUsage = this.#providerCalls.at(-1)?.usage;
  }

  async run(): Promise<TurnOutcome> {
    if (this.#setup.resume === undefined) await this.#emitOpening();
    let ending: Ending | undefined;
    // Each round is one step: a model call (skipped when a resumed step has calls left to run), then its tools.
    while (ending === undefined) {
      if (this.#calls.length === 0) ending = await this.#askModel();
      // An answer that has to be made again left no calls.
      if (ending === undefined && this.#calls.length > 0) ending = await this.#runCalls();
    }
    return this.#conclude(ending);
  }

  async #emitOpening(): Promise<void> {
    const { conversationId, turnId } = this.#setup;
    await this.#emit(inputEvent(this.#setup));
    const startedAt = this.#setup.startedAt ?? this.#clock.now();
    const model = modelOf(this.#setup);
    await this.#emit({ type: "turn-start", conversationId, turnId, model, startedAt });
  }

  /** Calls the model once. Undefined if it left calls to run, otherwise the turn's ending. */
  async #askModel(): Promise<Ending | undefined> {
    const setup = this.#setup;
    if (this.#stepIndex >= this.#limits.maxSteps) return { reason: "max-steps" };
    const opened = await openStep(setup, this.#stepIndex, this.#messages, (call) => this.#record(call));
    if (setup.signal?.aborted) return stopped(setup);
    if ("error" in opened) return failed(setup, opened.error);
    if (opened.tools !== undefined) {
      this.#tools = opened.tools;
      this.#params = withToolDefinitions(setup, opened.tools);
    }
    const step = await runStep(
      setup,
      {
        index: this.#stepIndex,
        context: opened,
        params: this.#stepParams(),
        messageId: this.#ids.next(),
        limits: this.#limits,
        clock: this.#clock,
      },
      this.#emit,
    );
    this.#steps.push(step.metrics);
    this.#record(step.record);
    this.#lastUsage = step.usage;
    if (step.message !== undefined) this.#messages.push(step.message);
    this.#calls = step.calls;
    if (step.error !== undefined) {
      return { ...(await this.#leaveCalls(step.error)), failedCall: step.record };
    }
    const own = ownCalls(setup, this.#tools, step.calls);
    if (own.length === 0) {
      this.#calls = [];
      return this.#checkAnswer(reasonOf(step.finishReason, step.calls.length > 0));
    }
    this.#leavesCalls = own.length < step.calls.length;
    this.#calls = own;
    return this.#commitGeneration(step.calls);
  }

  /**
   * Returns the parameters of a step. When called again for data, the model only corrects what it wrote: it is
   * offered no tools.
   */
  #stepParams(): Omit<ProviderCallParams, "messages"> {
    const last = this.#messages.at(-1);
    if (last === undefined || outputEntryOfMessage(last) === undefined) return this.#params;
    const { tools: _, toolChoice: _choice, ...params } = this.#params;
    return params;
  }

  /**
   * Ends the turn with its answer. If it has to return data and the answer does not match, the model is called again:
   * that is a step of its own, without steering.
   */
  async #checkAnswer(reason: TurnReason): Promise<Ending | undefined> {
    const setup = this.#setup;
    const { output, conversationId, turnId } = setup;
    if (output === undefined || reason !== "stop") return { reason };
    const errors = outputErrors(output, answerText(this.#messages));
    const attempts = failedAttempts(this.#messages) + 1;
    if (errors.length === 0) return { reason, output: { valid: true, attempts } };
    if (attempts > output.retries) return { reason, output: { valid: false, attempts, errors } };
    const stepId = stepIdOf(turnId, this.#stepIndex);
    const entry = outputEntry(output, attempts, errors);
    const message = outputMessage(entry, {
      conversationId,
      createdAt: new Date(this.#clock.now()),
      stepId,
    });
    this.#messages.push(message);
    const committed = await this.#commit("generation", { wait: false });
    if ("error" in committed) return failed(setup, committed.error);
    this.#committed = this.#messages.length;
    const place = { conversationId, turnId, stepId, messageId: message.id };
    await this.#emit({ type: "output-invalid", ...place, output: entry });
    this.#stepIndex += 1;
    return this.#leaves(committed) ? { reason: "interrupted", released: true } : undefined;
  }

  /** Returns true if another node continues the turn from here. */
  #leaves({ release }: Pick<Required<StepCommitted>, "release">): boolean {
    const isLeaving = release || this.#setup.sink.draining?.() === true;
    return isLeaving && this.#stepIndex < this.#limits.maxSteps;
  }

  /** Commits the answer of the model, with requests for the calls that need input. */
  async #commitGeneration(all: readonly ToolCallContentPart[]): Promise<Ending | undefined> {
    const requests = await this.#askAboutCalls(all);
    const wait = requests.length > 0 && requests.length === this.#calls.length;
    const generated = await this.#commit("generation", { inputs: requests, wait });
    if ("error" in generated) {
      this.#calls = all;
      return this.#leaveCalls(generated.error);
    }
    this.#committed = this.#messages.length;
    return generated.waiting ? { reason: "tool-calls", waiting: true } : undefined;
  }

  async #askAboutCalls(all: readonly ToolCallContentPart[]): Promise<readonly InputRequest[]> {
    const { conversationId, turnId, owner, inputs } = this.#setup;
    this.#asked = new Map();
    if (inputs?.listen === undefined) return [];
    const stepId = stepIdOf(turnId, this.#stepIndex);
    const now = this.#clock.now();
    const places = this.#calls.map((call) => all.indexOf(call));
    const step = {
      conversationId,
      turnId,
      stepId,
      owner,
      calls: this.#calls,
      places,
      tools: this.#tools,
      now,
    };
    this.#asked = await askAboutCalls(step, inputs);
    const requests = [...this.#asked.values()].map(({ request }) => request);
    const envelope = { conversationId, createdAt: new Date(now) };
    this.#messages.push(...requests.map((request) => inputMessage(requestEntry(request), envelope)));
    return requests;
  }

  /** Ends the turn by a failure after the model's calls: they are in the log, so they need their results. */
  async #leaveCalls(error: ParleyError): Promise<Ending> {
    const step = { index: this.#stepIndex, calls: this.#calls, clock: this.#clock, ids: this.#ids };
    this.#messages.push(...(await interruptCalls(this.#setup, step, this.#emit)));
    return failed(this.#setup, error);
  }

  /** Runs the tools of one step. Undefined if the turn continues, otherwise the turn's ending. */
  async #runCalls(): Promise<Ending | undefined> {
    const setup = this.#setup;
    const ran = await this.#runTools();
    // A stop after the last call that ran leaves the undecided ones: the next round answers them.
    if (setup.signal?.aborted) return ran.undecided.length > 0 ? undefined : stopped(setup);
    const wait = ran.undecided.length > 0;
    const results = await this.#commit("results", { wait });
    if ("error" in results) return wait ? this.#leaveCalls(results.error) : failed(setup, results.error);
    this.#messages.push(...results.steering);
    this.#committed = this.#messages.length;
    if (results.waiting) return { reason: "tool-calls", waiting: true };
    if (results.steering.length > 0) await this.#emit(steeringEvent(setup, results.steering));
    // A response came before the turn could wait: the calls that it decides run now.
    if (wait) return this.#takeResponses(results.responses);
    if (this.#leavesCalls) return { reason: "tool-calls" };
    this.#stepIndex += 1;
    return this.#leaves(results) ? { reason: "interrupted", released: true } : undefined;
  }

  async #runTools(): Promise<ToolsResult> {
    const ran = await runTools(
      this.#setup,
      {
        index: this.#stepIndex,
        tools: this.#tools,
        calls: this.#calls,
        settled: this.#settled,
        asked: this.#asked,
        lost: this.#setup.resume?.lost,
        limits: this.#limits,
        clock: this.#clock,
        ids: this.#ids,
      },
      this.#emit,
    );
    this.#messages.push(...ran.entries, ...ran.messages);
    noteTools(this.#steps, stepIdOf(this.#setup.turnId, this.#stepIndex), ran);
    this.#settled = [];
    this.#calls = ran.undecided;
    return ran;
  }

  #takeResponses(responses: readonly InputResponseEntry[]): Promise<Ending> | undefined {
    for (const response of responses) {
      for (const asked of this.#asked.values()) {
        if (asked.request.requestId === response.requestId) asked.response ??= response;
      }
    }
    const isDecided = this.#calls.some((call) => this.#asked.get(call)?.response !== undefined);
    if (isDecided || this.#setup.signal?.aborted) return undefined;
    const message = "The turn could neither wait nor go on";
    return this.#leaveCalls(new ParleyError("internal", message));
  }

  #record(call: ProviderCallRecord): void {
    this.#providerCalls.push(call);
    this.#setup.onCall?.(call);
  }

  /** Writes what is not written yet. */
  async #commit(
    phase: StepCommit["phase"],
    waits: { readonly inputs?: readonly InputRequest[]; readonly wait: boolean },
  ): Promise<{ error: ParleyError } | Required<StepCommitted>> {
    const { inputs = [], wait } = waits;
    try {
      const committed = await this.#setup.sink.commitStep({
        stepId: stepIdOf(this.#setup.turnId, this.#stepIndex),
        stepIndex: this.#stepIndex,
        phase,
        messages: this.#messages.slice(this.#committed),
        steps: [...this.#steps],
        providerCalls: [...this.#providerCalls],
        ...(inputs.length > 0 ? { inputs } : {}),
        ...(wait ? { wait } : {}),
      });
      return { steering: [], release: false, waiting: false, responses: [], ...committed };
    } catch (thrown) {
      return { error: toParleyError(thrown, "store_unavailable") };
    }
  }

  async #conclude(ending: Ending): Promise<TurnOutcome> {
    const setup = this.#setup;
    if (ending.error !== undefined) {
      const { conversationId, turnId } = setup;
      const { code, message, retryable } = ending.error;
      this.#messages.push(errorMessage(setup, ending.error, this.#ids.next(), new Date(this.#clock.now())));
      await this.#emit({ type: "error", conversationId, turnId, code, message, retryable });
    }
    const outcome = outcomeOf(setup, ending, {
      messages: this.#messages,
      committed: this.#committed,
      providerCalls: this.#providerCalls,
      steps: this.#steps,
      lastUsage: this.#lastUsage,
      durationMs: this.#clock.monotonic() - this.#openedAt,
      waitedMs: setup.resume?.waitedMs ?? 0,
    });
    if (outcome.state === "finished") await this.#emit(doneEvent(setup, outcome));
    return outcome;
  }
}

/**
 * Runs the same turn as a stream that its reader drives: it starts with the first read, and is at most one event
 * ahead. Leaving the iteration early abandons the turn in its current state: nothing more is committed, and its call
 * and its tools are canceled. Abort `setup.signal` to stop it properly.
 */
export function runTurn(setup: TurnSetup): TurnStream {
  return new TurnEvents((emit, left) => {
    const signal = setup.signal === undefined ? left : AbortSignal.any([setup.signal, left]);
    return driveTurn({ ...setup, signal }, emit);
  });
}

/**
 * Copies field by field: the limits of a host hold more than these, and merging all of them takes longer than a short
 * step.
 */
function limitsOf({ limits = defaultTurnLimits }: TurnSetup): TurnLimits {
  return {
    maxSteps: limits.maxSteps ?? defaultTurnLimits.maxSteps,
    toolConcurrency: limits.toolConcurrency ?? defaultTurnLimits.toolConcurrency,
    toolTimeoutMs: limits.toolTimeoutMs ?? defaultTurnLimits.toolTimeoutMs,
    toolOutputBytes: limits.toolOutputBytes ?? defaultTurnLimits.toolOutputBytes,
    answerBytes: limits.answerBytes ?? defaultTurnLimits.answerBytes,
    answerCalls: limits.answerCalls ?? defaultTurnLimits.answerCalls,
    answerParts: limits.answerParts ?? defaultTurnLimits.answerParts,
    firstContentMs: limits.firstContentMs ?? defaultTurnLimits.firstContentMs,
    betweenContentMs: limits.betweenContentMs ?? defaultTurnLimits.betweenContentMs,
  };
}

async function openStep(
  setup: TurnSetup,
  stepIndex: number,
  turnMessages: readonly ConversationMessage[],
  onCall: (call: ProviderCallRecord) => void,
) {
  try {
    // A copy: a builder of the context may keep what it is given while the turn continues.
    const shown = [...turnMessages];
    return await setup.context({
      stepIndex,
      stepId: stepIdOf(setup.turnId, stepIndex),
      turnMessages: shown,
      onCall,
    });
  } catch (thrown) {
    return { error: toParleyError(thrown) };
  }
}

/** Returns the ending by an error: a stopped turn ends with the reason of the stop, any other failure is an error. */
function failed(setup: TurnSetup, error: ParleyError): Ending {
  return setup.signal?.aborted ? stopped(setup) : { reason: "error", error };
}

function stopped(setup: TurnSetup): Ending {
  return setup.abortReason?.() ?? { reason: "aborted" };
}

function reasonOf(finish: ProviderFinishReason | undefined, openCalls: boolean): TurnReason {
  if (openCalls) return "tool-calls";
  if (finish === "length" || finish === "content-filter") return finish;
  return "stop";
}

function errorMessage(
  setup: TurnSetup,
  error: ParleyError,
  id: string,
  createdAt: Date,
): ConversationMessage {
  return {
    id,
    conversationId: setup.conversationId,
    role: "assistant",
    createdAt,
    content: [{ type: "error", message: error.message, code: error.code }],
  };
}
