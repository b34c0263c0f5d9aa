import { omitUndefined } from "@parley/fold";
import type { ContextSegment } from "@parley/wire";
import { WorkSlices } from "../event-loop.js";
import type { ConversationMessage } from "../messages/message.js";
import { toProviderMessages } from "../messages/provider/provider-messages.js";
import { chainHash } from "../messages/text/hash.js";
import type { HistoryEntry, ProviderMessage } from "../ports.js";
import { calibrated } from "./token-scale.js";
import type { WindowPiece } from "./window-piece.js";

/** Smallest stretch of a request: the instructions, the tools, then each message. */
export interface RequestLink {
  readonly kind: ContextSegment["kind"];
  readonly role: ConversationMessage["role"] | undefined;
  /** Absent for content that is not in the log. */
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  /** Of the request from its start through this stretch. */
  readonly hash: string;
  /** Uncalibrated, likewise from the start. */
  readonly tokens: number;
  /** The place of the first link of its segment: neighbours with consecutive seqs are one. */
  readonly segmentFrom: number;
  /** The place of the first of the neighbours with the same role. */
  readonly roleFrom: number;
}

/** Beginning of a request. */
export interface ChainHead {
  readonly kind: "instructions" | "tools";
  readonly text: string;
  readonly tokens: number;
}

/** A message of the window and its place in the chain. */
interface ChainNode {
  readonly message: ConversationMessage;
  readonly kind: ContextSegment["kind"];
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  /** Uncalibrated. */
  readonly tokens: number;
  readonly characters: number;
  /** Number of links after it: a message that is not sent adds none. */
  links: number;
}

/** Weight of lowering and hashing, where it is cut into slices: of each message, and of its characters. */
const messageWeight = 2;
const charactersPerWeight = 512;

/**
 * The messages of a request as providers receive them, with the hash of every beginning of it. A chain can be kept
 * for the next request of the same conversation: what both have in common is neither lowered nor hashed again. It is
 * recognized by the identity of the message objects, so a caller that keeps a chain keeps the messages with it.
 */
export class RequestChain {
  #head: readonly ChainHead[] = [];
  /** The pieces of the window, each with the number of nodes after it. */
  #pieces: readonly WindowPiece[] = [];
  #pieceEnds: number[] = [];
  readonly #nodes: ChainNode[] = [];
  readonly #links: RequestLink[] = [];
  readonly #messages: ProviderMessage[] = [];

  /** In order. */
  get links(): readonly RequestLink[] {
    return this.#links;
  }

  /** Returns the messages of the request. The caller owns the list. */
  messages(): ProviderMessage[] {
    return this.#messages.slice();
  }

  /** Returns the uncalibrated tokens of the first `count` links. */
  tokensOf(count: number): number {
    return this.#links[count - 1]?.tokens ?? 0;
  }

  /** Makes this the chain of another request, and lets other work of the process run in between. */
  async become(
    head: readonly ChainHead[],
    pieces: readonly WindowPiece[],
    slices: WorkSlices = new WorkSlices(),
  ): Promise<void> {
    this.#begin(head);
    // In most cases all pieces but the last ones are those of the last request.
    let same = 0;
    while (same < pieces.length && same < this.#pieceEnds.length && pieces[same] === this.#pieces[same]) {
      same += 1;
    }
    let place = this.#pieceEnds[same - 1] ?? 0;
    this.#pieces = pieces;
    this.#pieceEnds.length = same;
    for (let index = same; index < pieces.length; index += 1) {
      const piece = pieces[index];
      if (piece === undefined) continue;
      for (const node of nodesOf(piece)) {
        if (!isSame(this.#nodes[place], node)) {
          this.#cutAt(place);
          const pause = slices.next(messageWeight + node.characters / charactersPerWeight);
          if (pause !== undefined) await pause;
          this.#append(node);
        }
        place += 1;
      }
      this.#pieceEnds.push(place);
    }
    this.#cutAt(place);
  }

  /** Returns the links from one place to another, those of a segment joined. `factor` calibrates the tokens. */
  segments(from: number, to: number, factor: number): ContextSegment[] {
    const segments: ContextSegment[] = [];
    for (let end = to; end > from; ) {
      const last = this.#links[end - 1];
      if (last === undefined) break;
      const start = Math.max(from, last.segmentFrom);
      const first = this.#links[start] ?? last;
      const hasRole = last.role !== undefined && last.roleFrom <= start;
      segments.push({
        kind: last.kind,
        ...(hasRole ? { role: last.role } : {}),
        ...omitUndefined({ firstSeq: first.firstSeq, lastSeq: last.lastSeq }),
        estimatedTokens: calibrated(last.tokens, { factor }) - calibrated(this.tokensOf(start), { factor }),
        hash: last.hash,
      });
      end = start;
    }
    return segments.reverse();
  }

  #begin(head: readonly ChainHead[]): void {
    const isSameHead =
      head.length === this.#head.length &&
      head.every((part, place) => {
        const own = this.#head[place];
        return own?.kind === part.kind && own.text === part.text && own.tokens === part.tokens;
      });
    if (isSameHead) return;
    this.#pieceEnds.length = 0;
    this.#nodes.length = 0;
    this.#links.length = 0;
    this.#messages.length = 0;
    this.#head = head;
    for (const { kind, text, tokens } of head) {
      this.#link({ kind, firstSeq: undefined, lastSeq: undefined, tokens }, undefined, text);
    }
  }

  #cutAt(place: number): void {
    if (place >= this.#nodes.length) return;
    const links = this.#nodes[place - 1]?.links ?? this.#head.length;
    this.#nodes.length = place;
    this.#links.length = links;
    this.#messages.length = links - this.#head.length;
  }

  #append(node: ChainNode): void {
    const { message } = node;
    const [lowered] = toProviderMessages([message]);
    if (lowered !== undefined) {
      this.#messages.push(frozen(lowered));
      this.#link(node, message.role, JSON.stringify(lowered));
    }
    node.links = this.#links.length;
    this.#nodes.push(node);
  }

  #link(
    node: Pick<ChainNode, "kind" | "firstSeq" | "lastSeq" | "tokens">,
    role: RequestLink["role"],
    text: string,
  ): void {
    const { kind, firstSeq, lastSeq, tokens } = node;
    const last = this.#links.at(-1);
    const place = this.#links.length;
    this.#links.push({
      kind,
      role,
      firstSeq: lastSeq === undefined ? undefined : firstSeq,
      lastSeq: firstSeq === undefined ? undefined : lastSeq,
      hash: chainHash(last?.hash ?? "", text),
      tokens: (last?.tokens ?? 0) + tokens,
      segmentFrom: last !== undefined && joins(last, node) ? last.segmentFrom : place,
      roleFrom: last !== undefined && last.role === role ? last.roleFrom : place,
    });
  }
}

/** Freezes a message, so that no receiver can change what later requests hold. */
function frozen(message: ProviderMessage): ProviderMessage {
  for (const part of message.content) Object.freeze(part);
  Object.freeze(message.content);
  return Object.freeze(message);
}

function isSame(known: ChainNode | undefined, node: ChainNode): boolean {
  return (
    known !== undefined &&
    known.message === node.message &&
    known.firstSeq === node.firstSeq &&
    known.lastSeq === node.lastSeq &&
    known.kind === node.kind &&
    known.tokens === node.tokens
  );
}

/** Returns the messages of a piece, each at the place of its row. */
function nodesOf({ kind: pieceKind, entries, messages, costs }: WindowPiece): ChainNode[] {
  const kind = pieceKind === "summary" ? "summary" : "messages";
  let entry = entries[0];
  return messages.map((message, index) => {
    // A message that a repair made belongs to the row before it.
    entry = entryOf(entries, index, message) ?? entry;
    const { tokens = 0, characters = 0 } = costs[index] ?? {};
    const { firstSeq, lastSeq } = entry ?? {};
    return { message, kind, firstSeq, lastSeq, tokens, characters, links: 0 };
  });
}

/** Returns the entry that a message of a piece comes from; undefined for one that a repair made. */
function entryOf(
  entries: readonly HistoryEntry[],
  index: number,
  message: ConversationMessage,
): HistoryEntry | undefined {
  const entry = entries[index];
  if (entry?.message.id === message.id) return entry;
  return entries.findLast((each) => each.message.id === message.id);
}

function joins(last: RequestLink, link: Pick<ChainNode, "kind" | "firstSeq" | "lastSeq">): boolean {
  if (last.kind !== "messages" || link.kind !== "messages") return false;
  if (last.lastSeq === undefined || link.firstSeq === undefined) return last.lastSeq === link.lastSeq;
  return link.lastSeq === last.lastSeq || link.firstSeq === last.lastSeq + 1;
}
