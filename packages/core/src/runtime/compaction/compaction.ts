import { omitUndefined } from "@parley/fold";
import type { CompactionPreview, CompactionResult } from "@parley/wire";
import { ParleyError } from "../../errors.js";
import { createMessageMeter } from "../../history/message-tokens.js";
import { tokenScale } from "../../history/token-scale.js";
import type { ConversationMessage } from "../../messages/message.js";
import { argumentsTextOf, resultTextOf } from "../../messages/part.js";
import type { CompactInput, ConversationRecord, LogStore } from "../../ports/log-store.js";
import type { HistoryEntry, ProviderCallRecord, ProviderCallResult } from "../../ports.js";
import { collectAnswer } from "../../turn/answer/collect-answer.js";
import type { Uses } from "../environment.js";
import type { OwnerModel } from "../owner-models.js";

/** The parts of the environment that summaries use. */
export type SummaryUses = Uses<"clock" | "compaction" | "keepRaw" | "limits" | "ownerModels" | "tokens">;

const pageSize = 200;

const summaryInstructions = `You write the memory of a conversation between a user and an assistant, so that the assistant can go on without reading it again.
Keep: what the user wants and has decided, facts, names, numbers, file names, code and identifiers that may matter, what was tried and how it ended, results of tools that are still needed, promises, open questions.
Leave out: greetings, repetition, reasoning that led nowhere.
Write in the language of the conversation, in short factual lines, newest state first where things changed. Do not address anyone and do not continue the conversation.`;

/** Messages that a compaction would cover, oldest first, with the summary in force before it. */
export interface CompactionPlan {
  readonly covered: readonly HistoryEntry[];
  readonly kept: number;
  readonly earlier: HistoryEntry | undefined;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly estimatedTokens: number;
}

/**
 * Chooses what to cover: everything that no summary covers yet, except the newest messages. `keep` decides, from the
 * newest message on, if one more stays as it is. The cut is never between a call and its result. Undefined if nothing
 * would be gained.
 */
export async function planCompaction(
  env: Uses<"tokens">,
  store: LogStore,
  conversationId: string,
  keep: (entry: HistoryEntry, index: number) => boolean,
): Promise<CompactionPlan | undefined> {
  const meter = createMessageMeter(tokenScale(env.tokens));
  const entries: HistoryEntry[] = [];
  let earlier: HistoryEntry | undefined;
  let before: number | undefined;
  do {
    const page = await store.readNewest({
      conversationId,
      limit: pageSize,
      ...omitUndefined({ before }),
    });
    for (const entry of page.entries) {
      if (earlier !== undefined && (entry.lastSeq ?? 0) <= (earlier.covers?.toSeq ?? 0)) continue;
      // The newest summary in force replaces everything that it covers; what it replaced is left out with it.
      if (entry.covers !== undefined) earlier ??= entry;
      else entries.push(entry);
    }
    before =
      earlier !== undefined && (page.before ?? 0) <= (earlier.covers?.toSeq ?? 0) ? undefined : page.before;
  } while (before !== undefined);

  let kept = 0;
  while (kept < entries.length && keep(entries[kept] as HistoryEntry, kept)) kept += 1;
  // A result belongs to its call: leave whole steps on either side.
  while (kept < entries.length && kept > 0 && entries[kept - 1]?.message.role === "tool") kept += 1;
  while (kept < entries.length && hasOpenCalls(entries[kept] as HistoryEntry, entries[kept - 1])) kept += 1;
  const covered = entries.slice(kept).reverse();
  const first = covered[0];
  const last = covered.at(-1);
  if (first === undefined || last === undefined || covered.length < 2) return undefined;
  let estimatedTokens = 0;
  for (const { message } of covered) estimatedTokens += meter(message).tokens;
  return {
    covered,
    kept,
    earlier,
    fromSeq: earlier?.covers?.fromSeq ?? first.firstSeq ?? 1,
    toSeq: last.lastSeq ?? 0,
    estimatedTokens: Math.ceil(estimatedTokens),
  };
}

function hasOpenCalls(entry: HistoryEntry, newer: HistoryEntry | undefined): boolean {
  return newer?.message.role === "tool" && entry.message.content.some((part) => part.type === "tool-call");
}

/** Keeps the newest `n` messages. */
export function keepNewest(n: number): (entry: HistoryEntry, index: number) => boolean {
  return (_entry, index) => index < n;
}

/**
 * For a compaction inside a turn: keeps the newest messages up to a number of tokens, and the turn's own input whatever
 * its size. The turn's newest step may take more, because the model has not answered it yet.
 */
export function keepTokens(
  env: Uses<"tokens">,
  limits: { readonly tokens: number; readonly newestStepTokens: number },
  turn: { readonly turnId: string; readonly inputIds: ReadonlySet<string> },
): (entry: HistoryEntry, index: number) => boolean {
  const meter = createMessageMeter(tokenScale(env.tokens));
  let sum = 0;
  let isNewestStep = true;
  return ({ message, turnId }) => {
    sum += meter(message).tokens;
    if (turn.inputIds.has(message.id)) return true;
    const limit = isNewestStep && turnId === turn.turnId ? limits.newestStepTokens : limits.tokens;
    if (message.role === "assistant") isNewestStep = false;
    return sum <= limit;
  };
}

/** Returns the summary of a plan, for a preview. */
export function toPreview(plan: CompactionPlan): CompactionPreview {
  return {
    messagesSummarized: plan.covered.length,
    messagesKept: plan.kept,
    firstSeq: plan.fromSeq,
    lastSeq: plan.toSeq,
    estimatedTokens: plan.estimatedTokens,
  };
}

/** Returns the part of a notice to watchers that a plan decides. */
export function noticeOf(plan: CompactionPlan): NonNullable<CompactInput["notice"]> {
  return { messagesSummarized: plan.covered.length, messagesKept: plan.kept };
}

/** Returns the result of a compaction for its caller. */
export function toResult(plan: CompactionPlan, summary: string, archiveId: string): CompactionResult {
  return {
    summary,
    newConversationId: archiveId,
    ...noticeOf(plan),
  };
}

/**
 * Requests the summary from the model. Content that does not fit its window in one request is summarized piece by
 * piece, each time with the summary so far. `onCall` gets each call, also one that failed.
 */
export async function summarize(
  env: SummaryUses,
  binding: OwnerModel,
  plan: CompactionPlan,
  signal: AbortSignal,
  onCall: (call: ProviderCallRecord) => void,
): Promise<string> {
  const maxTokens = env.compaction.pieceTokens(binding.contextWindow);
  const clipCharacters = env.compaction.clipCharacters();
  let summary = plan.earlier === undefined ? "" : textOfEntry(plan.earlier);
  let piece = "";
  let pieceTokens = 0;
  const sumUp = async () => {
    const ask = { earlier: summary, piece, signal };
    const result = await askForSummary(env, binding, ask, onCall).catch((error: unknown) => {
      const estimatedTokens = pieceTokens + env.tokens.countText(summary, binding.name);
      env.ownerModels.refused(binding, error, estimatedTokens);
      throw error;
    });
    summary = summaryIn(result);
    piece = "";
    pieceTokens = 0;
  };
  for (const entry of plan.covered) {
    for (const text of splitText(env, binding, renderMessage(entry.message, clipCharacters), maxTokens)) {
      const tokens = env.tokens.countText(text, binding.name);
      if (piece !== "" && pieceTokens + tokens > maxTokens) await sumUp();
      piece += `${piece === "" ? "" : "\n\n"}${text}`;
      pieceTokens += tokens;
    }
  }
  if (piece !== "" || summary === "") await sumUp();
  return summary;
}

/** Splits a text into pieces of about a maximum number of tokens; none for an empty one. */
function* splitText(
  env: Uses<"tokens">,
  binding: OwnerModel,
  text: string,
  maxTokens: number,
): Generator<string, void, undefined> {
  const tokens = env.tokens.countText(text, binding.name);
  const count = Math.ceil(tokens / maxTokens);
  const size = Math.ceil(text.length / Math.max(1, count));
  for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size);
}

/** Makes the `system` message of the summary that goes into the log. */
export function summaryMessage(options: {
  readonly id: string;
  readonly conversationId: string;
  readonly createdAt: Date;
  readonly summary: string;
  readonly plan: CompactionPlan;
  readonly automatic: boolean;
}): ConversationMessage {
  const { plan } = options;
  return {
    id: options.id,
    conversationId: options.conversationId,
    role: "system",
    createdAt: options.createdAt,
    content: [{ type: "text", text: options.summary }],
    metadata: {
      compaction: {
        fromSeq: plan.fromSeq,
        toSeq: plan.toSeq,
        messagesSummarized: plan.covered.length,
        messagesKept: plan.kept,
        automatic: options.automatic,
      },
    },
  };
}

/** Returns `nothing_to_compact` with the reason. */
export function nothingToCompact(
  record: Pick<ConversationRecord, "lastSeq">,
  keepLastN: number,
): ParleyError {
  if (record.lastSeq === 0) return new ParleyError("nothing_to_compact", "The conversation is empty");
  const newest = keepLastN === 1 ? "message" : `${keepLastN} messages`;
  return new ParleyError(
    "nothing_to_compact",
    keepLastN === 0
      ? "Nothing is left to sum up"
      : `Nothing older than the newest ${newest} is left to sum up; keep fewer messages to cover more`,
  );
}

async function askForSummary(
  env: Uses<"clock" | "keepRaw" | "limits">,
  binding: OwnerModel,
  ask: { readonly earlier: string; readonly piece: string; readonly signal: AbortSignal },
  onCall: (call: ProviderCallRecord) => void,
): Promise<ProviderCallResult> {
  const before = ask.earlier === "" ? "" : `The memory so far:\n${ask.earlier}\n\n`;
  const text = `${before}The conversation to add:\n${ask.piece}\n\nWrite the whole memory now.`;
  return collectAnswer(
    {
      provider: binding.provider,
      params: {
        messages: [
          { role: "system", content: [{ type: "text", text: summaryInstructions }] },
          { role: "user", content: [{ type: "text", text }] },
        ],
        metadata: {
          provider: binding.providerName,
          model: binding.model,
          extensions: { "parley.purpose": "compaction" },
        },
        reasoningEffort: "low",
        ...omitUndefined({ extraParams: binding.extraParams }),
      },
      limits: env.limits,
      clock: env.clock,
      signal: ask.signal,
    },
    {
      modelName: binding.name,
      prices: binding.prices,
      keepRaw: env.keepRaw,
      onCall: (call) => onCall({ ...call, purpose: "compaction" }),
    },
  );
}

function summaryIn(result: ProviderCallResult): string {
  let text = "";
  for (const part of result.message.content)
    if (part.type === "text") text += (part as { text: string }).text;
  if (text.trim() === "") {
    throw new ParleyError("provider_rejected", "The model returned an empty summary; nothing was compacted");
  }
  return text.trim();
}

function renderMessage(message: ConversationMessage, clipCharacters: number): string {
  const clip = (text: string) => clipText(text, clipCharacters);
  const lines: string[] = [];
  for (const part of message.content) {
    if (part.type === "text" && part.text !== "") lines.push(part.text);
    else if (part.type === "tool-call") lines.push(`[calls ${part.name} ${clip(argumentsTextOf(part))}]`);
    else if (part.type === "tool-result") {
      lines.push(`[${part.name} ${part.isError ? "failed" : "answered"}: ${clip(resultTextOf(part))}]`);
    } else if (part.type === "file") lines.push(`[file ${part.filename ?? part.mediaType}]`);
  }
  return lines.length === 0 ? "" : `${message.role}: ${lines.join("\n")}`;
}

function textOfEntry(entry: HistoryEntry): string {
  return entry.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function clipText(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)} [...]`;
}
