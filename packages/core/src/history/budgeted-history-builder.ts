import { omitUndefined } from "@parley/fold";
import { WorkSlices } from "../event-loop.js";
import type { ConversationMessage } from "../messages/message.js";
import { createTokenCounter } from "../messages/tokens/token-counter.js";
import type { HistoryEntry } from "../ports.js";
import type { WindowSelection } from "./choose-window.js";
import { addCost, noCost } from "./context-cost.js";
import type {
  HistoryBudget,
  HistoryBuilder,
  HistoryBuildRequest,
  HistoryBuildResult,
  HistoryDropped,
} from "./history-builder.js";
import { KeptHistory } from "./kept-history.js";
import { describeRequest, windowStart } from "./manifest.js";
import { createMessageMeter, measureInstructions, measureTools } from "./message-tokens.js";
import { canReadAfter, canReadNewest, extendKept, firstPageOf, offerNewest, refresh } from "./read-pages.js";
import { RequestChain } from "./request-chain.js";
import { createWindowSelector, type WindowOptions, type WindowSelector } from "./select-window.js";
import { type TextCounter, tokenScale } from "./token-scale.js";
import type { WindowPiece } from "./window-piece.js";

export interface BudgetedHistoryBuilderOptions {
  /** Used if a request brings none. */
  budget?: HistoryBudget;
  /** Used if a request brings none. Default: a token counter of its own. */
  tokens?: TextCounter;
  /** Share of the budget that is freed when messages must go. Default 0.25 (see `WindowOptions`). */
  slack?: number;
  /** Maximum number of turns to show before the new messages. Default: as many as fit. */
  maxTurns?: number;
}

/**
 * Shows the model the newest messages that fit, cut between turns, then between steps, never between a call and its
 * result; summaries replace what they cover. Reads from the newest end and no further than the budget reaches. An
 * input that alone exceeds the budget is `context_overflow`.
 *
 * Holds no state between two calls: the start of the last window comes from the request's `previous`, and what was
 * read and lowered for it from the request's `kept`. The result is the same with and without it.
 */
export class BudgetedHistoryBuilder implements HistoryBuilder {
  readonly #budget: HistoryBudget | undefined;
  readonly #tokens: TextCounter;
  readonly #slack: number | undefined;
  readonly #maxTurns: number | undefined;

  constructor(options: BudgetedHistoryBuilderOptions = {}) {
    this.#budget = options.budget;
    this.#tokens = options.tokens ?? createTokenCounter();
    this.#slack = options.slack;
    this.#maxTurns = options.maxTurns;
  }

  async buildHistory(req: HistoryBuildRequest): Promise<HistoryBuildResult> {
    const { model, previous, contextWindow } = req;
    const scale = { ...tokenScale(req.tokens ?? this.#tokens, model), countFile: req.countFile };
    const instructions = fixedPart(req.instructions, (text) => ({
      text,
      cost: measureInstructions(text, scale),
    }));
    const tools = fixedPart(req.tools, (definitions) => ({
      definitions,
      cost: measureTools(definitions, scale),
    }));
    const isSameModel = previous?.model === undefined || previous.model === model;
    const options: WindowOptions = {
      budget: req.budget ?? this.#budget,
      measure: createMessageMeter(scale),
      factor: scale.factor,
      fixed: addCost(instructions?.cost ?? noCost, tools?.cost ?? noCost),
      input: req.newUserMessages,
      turnMessages: req.turnMessages,
      // Another model has no cache to protect, and maybe a larger window.
      keepFrom: previous !== undefined && isSameModel ? windowStart(previous.manifest) : undefined,
      slack: this.#slack,
      maxTurns: this.#maxTurns,
    };
    const claimed = req.kept?.claim() === true ? req.kept : undefined;
    try {
      const kept = claimed ?? new KeptHistory();
      const slices = new WorkSlices();
      const { window, unread } = await selectFrom(req, kept, options, { rule: scale.rule, slices });
      const { factor } = scale;
      const input = { window, instructions, tools, model, previous, contextWindow, factor };
      const described = await describeRequest(input, kept.chain, slices);
      const dropped = droppedFrom(window, unread);
      return {
        messages: joined(window.pieces, (piece) => piece.messages),
        truncated: window.truncated,
        manifest: described.manifest,
        providerMessages: described.messages,
        entries: joined(window.pieces, (piece) => piece.entries),
        ...omitUndefined({ dropped }),
      };
    } finally {
      claimed?.release();
    }
  }
}

/** The window, and the number of messages that were not read, if known. */
interface SelectedWindow {
  readonly window: WindowSelection;
  readonly unread: number | undefined;
}

/** Chooses the window: continued from the conversation's last request if possible, otherwise from its log. */
async function selectFrom(
  req: HistoryBuildRequest,
  kept: KeptHistory,
  options: WindowOptions,
  how: { readonly rule: number | undefined; readonly slices: WorkSlices },
): Promise<SelectedWindow> {
  const { store, conversation } = req;
  const { rule, slices } = how;
  if (!canReadNewest(store)) return selectFromList(req, createWindowSelector(options));
  // Counts that are not known to be comparable are made again for each request.
  if (rule === undefined || rule !== kept.rule) {
    kept.settled = undefined;
    kept.chain = new RequestChain();
    kept.rule = rule;
  }
  if (canReadAfter(store)) await refresh(kept, store, conversation.id);
  else kept.clear();
  const extended = extendKept(kept, createWindowSelector(options));
  if (extended !== undefined) {
    kept.settled = extended.settled;
    return { window: extended.window, unread: kept.isRead ? 0 : undefined };
  }
  const selector = createWindowSelector(options);
  kept.settled = undefined;
  const firstPage = firstPageOf(options.budget, req.previous?.manifest);
  kept.isRead = await offerNewest(kept, store, conversation.id, selector, { firstPage, slices });
  const window = selector.finish();
  kept.settled = selector.settle(window);
  return { window, unread: kept.isRead ? 0 : undefined };
}

/** Chooses the window from the whole list of messages. */
async function selectFromList(req: HistoryBuildRequest, selector: WindowSelector): Promise<SelectedWindow> {
  const stored = await req.store.listMessages(req.conversation.id, { ascending: true });
  const entries = numberMessages([...stored, ...notAmong(stored, req)]);
  while (entries.length > 0) {
    const entry = entries.pop();
    if (entry !== undefined && selector.offer(entry) === "full") break;
  }
  return { window: selector.finish(), unread: entries.length };
}

/** Joins the lists of all pieces. Several times as fast as `flatMap`, and a window may have many thousand pieces. */
function joined<Item>(
  pieces: readonly WindowPiece[],
  listOf: (piece: WindowPiece) => readonly Item[],
): Item[] {
  const all: Item[] = [];
  for (const piece of pieces) for (const item of listOf(piece)) all.push(item);
  return all;
}

/** Counts instructions and tools only if there are any. */
function fixedPart<Value extends { readonly length: number }, Part>(
  value: Value | undefined,
  make: (value: Value) => Part,
): Part | undefined {
  return value === undefined || value.length === 0 ? undefined : make(value);
}

function notAmong(stored: readonly ConversationMessage[], req: HistoryBuildRequest): ConversationMessage[] {
  const known = new Set(stored.map((message) => message.id));
  return [...req.newUserMessages, ...(req.turnMessages ?? [])].filter((message) => !known.has(message.id));
}

/** Numbers the messages of a whole log: one seq for each part, and one for a message without any. */
function numberMessages(messages: readonly ConversationMessage[]): HistoryEntry[] {
  let next = 1;
  return messages.map((message) => {
    const firstSeq = next;
    next += Math.max(1, message.content.length);
    return { message, firstSeq, lastSeq: next - 1 };
  });
}

function droppedFrom(window: WindowSelection, unread: number | undefined): HistoryDropped | undefined {
  if (!window.truncated && window.dropped.length === 0) return undefined;
  const cut = window.dropped.filter((range) => range.reason === "budget");
  return {
    ranges: window.dropped,
    parts: cut.reduce((sum, range) => sum + range.lastSeq - range.firstSeq + 1, 0),
    ...(unread === undefined ? {} : { messages: window.left + unread }),
  };
}
