import { omitUndefined } from "@parley/fold";
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
import { describeRequest, windowStart } from "./manifest.js";
import { createMessageMeter, measureInstructions, measureTools, type TextCounter } from "./message-tokens.js";
import { canReadNewest, readPages } from "./read-pages.js";
import { createWindowSelector, type WindowSelector } from "./select-window.js";

export interface BudgetedHistoryBuilderOptions {
  /** Used where a request brings none. */
  budget?: HistoryBudget;
  /** Used where a request brings none. Default: a token counter of its own. */
  tokens?: TextCounter;
  /** The share of the budget that is set free when messages must go. Default 0.25 (see `WindowOptions`). */
  slack?: number;
  /** The most turns to show before the new messages. Default: as many as fit. */
  maxTurns?: number;
}

/**
 * Shows the model the newest messages that fit, cut between turns, then between steps, never between a call and
 * its result; summaries stand in for what they cover. Reads from the newest end and no further than the budget
 * reaches. An input that alone exceeds the budget is `context_overflow`.
 *
 * Holds nothing between two calls: where the last window began comes from the request's `previous`.
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
    const tokens = req.tokens ?? this.#tokens;
    const { model, previous } = req;
    const instructions = fixedPart(req.instructions, (text) => ({
      text,
      cost: measureInstructions(text, tokens, model),
    }));
    const tools = fixedPart(req.tools, (definitions) => ({
      definitions,
      cost: measureTools(definitions, tokens, model),
    }));
    const measure = createMessageMeter(tokens, model);
    const isSameModel = previous?.model === undefined || previous.model === model;
    const selector = createWindowSelector({
      budget: req.budget ?? this.#budget,
      measure,
      fixed: addCost(instructions?.cost ?? noCost, tools?.cost ?? noCost),
      input: req.newUserMessages,
      turnMessages: req.turnMessages,
      // Another model has no cache to protect, and maybe a larger window.
      keepFrom: previous !== undefined && isSameModel ? windowStart(previous.manifest) : undefined,
      slack: this.#slack,
      maxTurns: this.#maxTurns,
    });
    const unread = await offerHistory(req, selector);
    const window = selector.finish();
    const dropped = droppedFrom(window, unread);
    const { contextWindow } = req;
    const described = describeRequest({
      window,
      measure,
      instructions,
      tools,
      model,
      previous,
      contextWindow,
    });
    return {
      messages: window.pieces.flatMap((piece) => piece.messages),
      truncated: window.truncated,
      manifest: described.manifest,
      providerMessages: described.messages,
      entries: window.pieces.flatMap((piece) => piece.entries),
      ...omitUndefined({ dropped }),
    };
  }
}

/** Instructions and tools count only where there are some. */
function fixedPart<Value extends { readonly length: number }, Part>(
  value: Value | undefined,
  make: (value: Value) => Part,
): Part | undefined {
  return value === undefined || value.length === 0 ? undefined : make(value);
}

/** Offers the store's entries, newest first. The number of messages that were not read, where it is known. */
async function offerHistory(req: HistoryBuildRequest, selector: WindowSelector): Promise<number | undefined> {
  const { store, conversation } = req;
  if (canReadNewest(store)) {
    for await (const page of readPages(store, conversation.id)) {
      for (const entry of page) if (selector.offer(entry) === "full") return undefined;
    }
    return 0;
  }
  const stored = await store.listMessages(conversation.id, { ascending: true });
  const entries = numberMessages([...stored, ...notAmong(stored, req)]);
  while (entries.length > 0) {
    const entry = entries.pop();
    if (entry !== undefined && selector.offer(entry) === "full") break;
  }
  return entries.length;
}

function notAmong(stored: readonly ConversationMessage[], req: HistoryBuildRequest): ConversationMessage[] {
  const known = new Set(stored.map((message) => message.id));
  return [...req.newUserMessages, ...(req.turnMessages ?? [])].filter((message) => !known.has(message.id));
}

/** The seqs that the messages of a whole log have: one for each part, and one for a message without any. */
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
