import { omitUndefined } from "@parley/fold";
import type { ExportedConversation, ExportedTurn, ExportLine, StoredChunk } from "@parley/wire";
import { ParleyError } from "../../errors.js";
import type { ConversationMessage } from "../../messages/message.js";
import { stableValue } from "../../messages/text/stable-value.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";
import { fromChunks, toStoredChunks } from "../../messages/wire-chunks.js";
import type { ImportedEntry, ImportedTurn, ImportInput } from "../../ports/imported-conversation.js";
import type { ConversationSettings } from "../../ports/log-store.js";
import type { ProviderCallRecord } from "../../ports.js";
import { fromCallInfo, toCallInfo } from "../api/call-info.js";
import { checkChunkLine, checkConversationLine, checkTurnLine } from "./check-export-line.js";
import type { ChunkLine } from "./export-conversation.js";

/** A chunk and its line number, for refusals. */
interface ReadChunk {
  readonly line: number;
  readonly chunk: ChunkLine;
}

interface ReadTurn {
  readonly line: number;
  readonly turn: ExportedTurn;
  readonly calls: ProviderCallRecord[];
}

/**
 * Reads the lines of an export into input that a store can write at once. A line that could not be kept exactly as it
 * is written is refused with `invalid_request` that names the line: an imported conversation that is exported again
 * is the same except for its id.
 */
export class ImportLines {
  readonly #maxBytes: number;
  #line = 0;
  #bytes = 0;
  #header: ExportedConversation | undefined;
  #lastSeq = 0;
  readonly #chunks: ReadChunk[] = [];
  readonly #turns = new Map<string, ReadTurn>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds the next line. */
  take(line: ExportLine): void {
    this.#line += 1;
    this.#bytes += this.#bytesOf(line);
    if (this.#bytes > this.#maxBytes) {
      throw new ParleyError("too_large", `An import may have at most ${this.#maxBytes} bytes`, {
        details: { line: this.#line, limit: this.#maxBytes },
      });
    }
    const type: unknown = (line as Partial<ExportLine> | null)?.type;
    if (this.#header === undefined) {
      if (type !== "conversation") throw this.#refused("the first line has the type conversation");
      this.#check(() => checkConversationLine(line));
      this.#header = line as ExportedConversation;
      return;
    }
    if (type === "chunk") this.#takeChunk(line as ChunkLine);
    else if (type === "turn") this.#takeTurn(line as ExportedTurn);
    else if (type === "conversation") throw this.#refused("a second conversation; import them one by one");
    else throw this.#refused(`the type ${JSON.stringify(type)} is not known to this version`);
  }

  /** Returns everything that was read, as the conversation `id`; without it, under its own id. */
  finish(id?: string): ImportInput {
    const header = this.#header;
    if (header === undefined) throw this.#refused("the file is empty");
    if (this.#lastSeq !== header.lastSeq) {
      throw this.#refused(
        `the file ends at seq ${this.#lastSeq} of ${header.lastSeq}: it was cut short, export it again`,
      );
    }
    const conversationId = id ?? header.conversation.id;
    const entries = this.#entries(conversationId);
    this.#checkCalls();
    const { createdAt, lastActivityAt, status } = header.conversation;
    const parent = parentOf(header, conversationId);
    return {
      conversationId,
      settings: settingsOf(header),
      closed: status === "closed",
      createdAt,
      lastActivityAt,
      ...omitUndefined({ parent }),
      entries,
      turns: this.#turnsOf(entries),
    };
  }

  #takeChunk(chunk: ChunkLine): void {
    if (this.#turns.size > 0) throw this.#refused("chunks stand before turns");
    this.#check(() => checkChunkLine(chunk));
    const expected = this.#lastSeq + 1;
    if (chunk.seq !== expected) throw this.#refused(`seq ${chunk.seq} where ${expected} is next`);
    if (chunk.seq > (this.#header?.lastSeq ?? 0)) throw this.#refused("a seq behind the conversation's last");
    this.#lastSeq = chunk.seq;
    this.#chunks.push({ line: this.#line, chunk });
  }

  #takeTurn(turn: ExportedTurn): void {
    this.#check(() => checkTurnLine(turn));
    if (this.#turns.has(turn.turnId)) throw this.#refused(`the turn ${turn.turnId} comes twice`);
    const calls = turn.providerCalls.map((info) => {
      const record = fromCallInfo(info);
      const again = toCallInfo(record);
      // The model's name may differ by the writer of the file; the other data of the call may not.
      const { model, providerModel } = again;
      if (!isSame(again, { ...info, model, providerModel })) {
        throw this.#refused(`the provider call ${String(info.id)} has fields that cannot be kept`);
      }
      return record;
    });
    this.#turns.set(turn.turnId, { line: this.#line, turn, calls });
  }

  /** Returns the messages of the chunks, each as it will be returned by the store. */
  #entries(conversationId: string): ImportedEntry[] {
    const entries: ImportedEntry[] = [];
    for (const group of this.#messages()) {
      const { line, chunk } = group[0] as ReadChunk;
      const stored = group.map((read) => read.chunk);
      if (chunk.partCount !== group.length) {
        throw this.#refused(`a message of ${chunk.partCount} chunks has ${group.length}`, line);
      }
      const { seq, turnId, stepId, undone } = chunk;
      const covers = coveredBy(chunk);
      const [message, another] = fromChunks(stored, { conversationId });
      const place = {
        firstSeq: seq,
        ...omitUndefined({ turnId, stepId, covers }),
      };
      if (message === undefined || another !== undefined) throw this.#refused("not one message", line);
      const again = toStoredChunks(message, place);
      for (const [index, read] of group.entries()) {
        const { type: _, undone: _undone, ...given } = read.chunk;
        if (isSame(again[index], given) && read.chunk.undone === undone) continue;
        throw this.#refused("a chunk that could not be kept as it is", read.line);
      }
      entries.push({
        message: this.#withMetadata(message, chunk),
        ...place,
        ...(undone === true ? { inForce: false } : {}),
      });
    }
    const twice = firstTwice(entries.map(({ message }) => message.id));
    if (twice !== undefined) throw this.#refused(`the message id ${twice} stands in two places`);
    return entries;
  }

  /** Restores what is not part of chunks, as far as it can be derived. */
  #withMetadata(message: ConversationMessage, chunk: ChunkLine): ConversationMessage {
    const covers = coveredBy(chunk);
    if (covers !== undefined) return { ...message, metadata: { compaction: covers } };
    if (message.role !== "assistant" || chunk.turnId === undefined) return message;
    const calls = this.#turns.get(chunk.turnId)?.calls;
    const call = calls?.findLast(({ stepId, purpose }) => stepId === chunk.stepId && purpose === undefined);
    if (call === undefined) return message;
    // Opaque parts are sent only to the provider and model that made them.
    const { provider, model } = call.metadata;
    return { ...message, metadata: { origin: { provider, model } } };
  }

  *#messages(): Generator<ReadChunk[], void, undefined> {
    let group: ReadChunk[] = [];
    for (const read of this.#chunks) {
      if (read.chunk.partIndex === 0 && group.length > 0) {
        yield group;
        group = [];
      }
      group.push(read);
    }
    if (group.length > 0) yield group;
  }

  /** Returns turns with their seqs. Every turn that a chunk names must be there, with adjacent chunks. */
  #turnsOf(entries: readonly ImportedEntry[]): ImportedTurn[] {
    const ranges = new Map<string, { firstSeq: number; lastSeq: number }>();
    let current: string | undefined;
    for (const { message, turnId, firstSeq } of entries) {
      const lastSeq = firstSeq + message.content.length - 1;
      const range = turnId === undefined ? undefined : ranges.get(turnId);
      if (turnId !== undefined && range === undefined) ranges.set(turnId, { firstSeq, lastSeq });
      else if (range !== undefined) {
        if (current !== turnId) throw this.#refused(`the turn ${turnId} is torn apart at seq ${firstSeq}`);
        range.lastSeq = lastSeq;
      }
      current = turnId;
    }
    for (const [turnId, { firstSeq }] of ranges) {
      if (this.#turns.has(turnId)) continue;
      throw this.#refused(
        `the turn ${turnId}, from seq ${firstSeq} on, is not there: it was open, or the file was cut short`,
      );
    }
    return [...this.#turns.values()].map(({ line, turn, calls }) => {
      const { turnId, startedAt, metrics } = turn;
      const range = ranges.get(turnId);
      if (range === undefined) throw this.#refused(`the turn ${turnId} has no chunks`, line);
      const { reason } = metrics;
      return {
        turnId,
        ...range,
        startedAt,
        sealedAt: turn.sealedAt ?? Math.round(startedAt + (metrics.durationMs ?? 0)),
        metrics,
        providerCalls: calls,
        ...(reason === undefined ? {} : { reason: reason as NonNullable<ImportedTurn["reason"]> }),
      };
    });
  }

  /** Refuses unanswered calls: their turn was not finished. Ids of calls may repeat. */
  #checkCalls(): void {
    const open = new Map<string, number[]>();
    for (const { line, chunk } of this.#chunks) {
      if (chunk.chunk.type === "tool-result") open.get(chunk.chunk.toolCallId)?.shift();
      if (chunk.chunk.type !== "tool-call") continue;
      const { toolCallId } = chunk.chunk;
      open.set(toolCallId, [...(open.get(toolCallId) ?? []), line]);
    }
    for (const [toolCallId, [line]] of open) {
      if (line !== undefined) throw this.#refused(`the tool call ${toolCallId} has no result`, line);
    }
  }

  #bytesOf(line: ExportLine): number {
    try {
      return utf8Length(JSON.stringify(line) ?? "");
    } catch {
      throw this.#refused("nested too deep, or no JSON");
    }
  }

  #check(problem: () => string | undefined): void {
    const found = problem();
    if (found !== undefined) throw this.#refused(found);
  }

  #refused(reason: string, line = this.#line): ParleyError {
    return new ParleyError("invalid_request", `line ${line}: ${reason}`, { details: { line } });
  }
}

/** Returns the parent of a conversation. One that takes its parent's own id no longer has a parent. */
function parentOf({ conversation }: ExportedConversation, id: string): ImportInput["parent"] {
  const { parentId, forkedAtSeq = 0 } = conversation;
  return parentId === undefined || parentId === id ? undefined : { id: parentId, seq: forkedAtSeq };
}

function settingsOf(header: ExportedConversation): ConversationSettings {
  const { title, model, reasoningEffort, pinned } = header.conversation;
  const { instructions, compactThreshold, metadata } = header;
  return {
    title,
    ...omitUndefined({ model, reasoningEffort, instructions, compactThreshold, metadata, pinned }),
  };
}

function coveredBy({ chunk }: StoredChunk): { fromSeq: number; toSeq: number } | undefined {
  if (chunk.type !== "system" || chunk.covers === undefined) return undefined;
  return { fromSeq: chunk.covers.firstSeq, toSeq: chunk.covers.lastSeq };
}

function firstTwice(ids: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return undefined;
}

function isSame(left: unknown, right: unknown): boolean {
  try {
    return JSON.stringify(stableValue(left)) === JSON.stringify(stableValue(right));
  } catch {
    // Nested deeper than the stack allows, and so deeper than anything that is stored.
    return false;
  }
}
