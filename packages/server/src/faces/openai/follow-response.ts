import { ParleyError } from "@parley/core";
import { toChunks } from "@parley/core/messages";
import type { HistoryEntry, TurnRecord } from "@parley/core/ports";
import type { OwnerRuntime } from "@parley/core/runtime";
import { closingEvents, replayTurn, sealedEvent } from "@parley/fold";
import type { AgentEvent } from "@parley/wire";
import type { ResponseStream } from "../../stream/response-stream.js";
import { PacedWriter } from "../paced-writer.js";
import { createdNumber, deltaNumber, endNumber, inProgressNumber, textBefore } from "./numbering.js";
import { type DeltaEvent, type ItemEvent, TurnProjection } from "./project-turn.js";
import { endType, type ResponseEcho, type ResponseHead, responseObject } from "./response-object.js";

/** A turn in the store, with the requested response. */
export interface FoundTurn {
  readonly conversationId: string;
  readonly turn: TurnRecord;
  readonly entries: readonly HistoryEntry[];
}

/** Returns the fields of a response that do not change. */
export function headOf({ conversationId, turn }: FoundTurn, stretch: number): ResponseHead {
  const { turnId, startedAt, choices, metrics } = turn;
  const echo = choices.metadata?.openai as ResponseEcho | undefined;
  const model = choices.model ?? metrics?.model ?? "";
  return { place: { turnId, stretch }, conversationId, createdAt: startedAt, model, echo };
}

/** Returns a response as far as it is durable. */
export function storedResponse(
  found: FoundTurn,
  stretch: number,
): { object: object; projection: TurnProjection } {
  const projection = new TurnProjection({ stretch, holdsText: holdsText(found.turn) });
  for (const event of storedEvents(found)) projection.take(event);
  const { items: output, usage, end } = projection;
  return { object: responseObject(headOf(found, stretch), { output, usage, end }), projection };
}

/** Returns true if text is held back because the answer may be rejected after it. */
export function holdsText({ choices }: Pick<TurnRecord, "choices">): boolean {
  return (choices.output?.retries ?? 0) > 0;
}

/** Returns the events of a turn from its rows. */
function storedEvents({ conversationId, turn, entries }: FoundTurn): AgentEvent[] {
  const { turnId, startedAt, metrics, firstSeq, lastSeq, reason = "interrupted", status, choices } = turn;
  const isSealed = status === "sealed";
  const messages = entries.map(({ message, stepId }) => ({
    id: message.id,
    role: message.role,
    stepId,
    createdAt: message.createdAt.getTime(),
    chunks: toChunks(message),
  }));
  const steps = metrics?.steps ?? [];
  const committed = { conversationId, turnId, startedAt, model: choices.model, messages, steps };
  const events: AgentEvent[] = [...replayTurn(committed, { isSealed })];
  if (status === "waiting") {
    const waiting = { turnId, count: 1, kinds: [] };
    events.push({ type: "status", conversationId, status: "active", waiting });
  }
  if (!isSealed) return events;
  const verdict = metrics?.output;
  events.push(...closingEvents({ conversationId, turnId, reason, metrics }));
  events.push(sealedEvent({ conversationId, turnId, firstSeq, lastSeq, reason, output: verdict }));
  return events;
}

/** Number and interval of reads of a turn that has not yet continued after its wait. */
const looks = 400;
const lookMs = 25;

type After = (ms: number, run: () => void) => unknown;

/**
 * Writes a response while its turn runs, or from the log. A response that cannot be written to its end is cut, so that
 * a client does not mistake it for complete. Returns a function that leaves.
 */
export function writeResponse(
  me: OwnerRuntime,
  { conversationId, place }: Pick<ResponseHead, "conversationId" | "place">,
  {
    writer,
    stream,
    after,
  }: { readonly writer: ResponseWriter; readonly stream: ResponseStream; readonly after: After },
): () => void {
  let leave = () => {};
  let hasLeft = false;
  const follow = (looksLeft: number) => {
    if (hasLeft) return;
    leave = me.followTurn(conversationId, place.turnId, {
      onEvent: (event) => void writer.take(event),
      // Text that was shown may be lost: the client reconnects with the last number that it has.
      onReset: () => stream.cut(),
      onEnd(error) {
        if (writer.isOver) return;
        if (error !== undefined || looksLeft === 0) return stream.cut();
        writer.restart();
        after(lookMs, () => follow(looksLeft - 1));
      },
    });
  };
  follow(looks);
  return () => {
    hasLeft = true;
    leave();
  };
}

/**
 * Reads the events of a turn until the wanted stretch is over. A turn that was just answered may still be seen
 * waiting: it is then read again.
 */
export async function* stretchEvents(
  me: OwnerRuntime,
  head: Pick<ResponseHead, "conversationId" | "place">,
  projection: () => TurnProjection,
  after: After,
): AsyncGenerator<AgentEvent, void, undefined> {
  const { conversationId, place } = head;
  for (let look = 0; look < looks; look += 1) {
    for await (const { event } of me.events(conversationId, place.turnId)) {
      yield event;
      if (projection().end !== undefined) return;
    }
    if (projection().end !== undefined) return;
    await new Promise<void>((resolve) => after(lookMs, resolve));
  }
  throw new ParleyError("timeout", "The turn was not continued in time: follow the response again");
}

/** Reads a response to its end and returns it. */
export async function collectResponse(
  head: ResponseHead,
  projection: TurnProjection,
  events: AsyncIterable<AgentEvent>,
): Promise<object> {
  for await (const event of events) {
    projection.take(event);
    if (projection.end !== undefined) break;
  }
  const { items: output, usage, end } = projection;
  return responseObject(head, { output, usage, end });
}

/** Writes the events of a response after a number. */
export class ResponseWriter {
  readonly #stream: PacedWriter;
  readonly #head: ResponseHead;
  readonly #options: { readonly holdsText: boolean; readonly callerTools?: readonly string[] | undefined };
  #projection: TurnProjection;
  /** The number of the last event that the reader has. */
  #last: number;
  /** The beginning of the frames of the item that grows. */
  #frame: { readonly itemId: string; readonly start: string } | undefined;

  constructor(
    stream: ResponseStream,
    head: ResponseHead,
    options: {
      readonly startingAfter?: number | undefined;
      readonly holdsText: boolean;
      readonly callerTools?: readonly string[] | undefined;
    },
  ) {
    this.#stream = new PacedWriter(stream);
    this.#head = head;
    this.#last = options.startingAfter ?? -1;
    this.#options = options;
    this.#projection = this.#project();
  }

  /** True once the last event is written. */
  get isOver(): boolean {
    return this.#projection.end !== undefined;
  }

  /** Starts the turn's events again: what the reader has is not written again. */
  restart(): void {
    this.#projection = this.#project();
  }

  #project(): TurnProjection {
    const { holdsText, callerTools } = this.#options;
    return new TurnProjection({
      stretch: this.#head.place.stretch,
      holdsText,
      callerTools,
      listener: { onDelta: (delta) => this.#delta(delta), onEvent: (event) => this.#event(event) },
    });
  }

  /** Writes the first two events. */
  begin(): void {
    const response = responseObject(this.#head, { output: [], usage: undefined });
    this.#event({ type: "response.created", sequence_number: createdNumber, response });
    this.#event({ type: "response.in_progress", sequence_number: inProgressNumber, response });
  }

  /** Takes an event of the turn. Returns true once the response is over and completely written. */
  take(event: AgentEvent): boolean {
    this.#projection.take(event);
    return this.isOver ? this.#end() : false;
  }

  /** Ends a turn that nothing seals. */
  finish(): void {
    this.#projection.finish();
    this.#end();
  }

  #end(): boolean {
    const { items: output, usage, end } = this.#projection;
    if (end === undefined) return false;
    const response = responseObject(this.#head, { output, usage, end });
    this.#event({ type: endType(end), sequence_number: endNumber(output.length), response });
    this.#stream.end();
    return true;
  }

  #event(event: ItemEvent): void {
    if (event.sequence_number <= this.#last) return;
    this.#last = event.sequence_number;
    this.#stream.write(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  }

  /** Writes a delta. Most frames of a stream are deltas, and most of each is the same. */
  #delta({ kind, itemId, outputIndex, delta, end }: DeltaEvent): void {
    const number = deltaNumber(outputIndex, end);
    if (number <= this.#last) return;
    // The reader has the beginning of it.
    const known = Math.max(0, textBefore(outputIndex, this.#last) - (end - delta.length));
    this.#last = number;
    const text = known === 0 ? delta : delta.slice(known);
    if (this.#frame?.itemId !== itemId)
      this.#frame = { itemId, start: frameStart(kind, itemId, outputIndex) };
    const tail = kind === "text" ? `,"logprobs":[]` : "";
    this.#stream.write(
      Buffer.from(`${this.#frame.start}${JSON.stringify(text)}${tail},"sequence_number":${number}}\n\n`),
    );
  }
}

function frameStart(kind: DeltaEvent["kind"], itemId: string, outputIndex: number): string {
  const type = kind === "text" ? "response.output_text.delta" : "response.reasoning_summary_text.delta";
  const index = kind === "text" ? `"content_index":0` : `"summary_index":0`;
  const of = `"item_id":${JSON.stringify(itemId)},"output_index":${outputIndex},${index}`;
  return `event: ${type}\ndata: {"type":"${type}",${of},"delta":`;
}
