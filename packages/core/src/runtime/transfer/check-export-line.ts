import type { Chunk, Role } from "@parley/wire";
import { isFields } from "../../messages/canonical/normalize-part.js";

/** The kinds of chunks that this version can keep. */
const chunkTypes: Record<Chunk["type"], true> = {
  text: true,
  thinking: true,
  "tool-call": true,
  "tool-result": true,
  error: true,
  system: true,
  source: true,
  data: true,
};
const roles: Record<Role, true> = { system: true, user: true, assistant: true, tool: true };

const format = "parley.conversation.1";
/** The largest possible seq. */
const mostSeq = 2_147_483_646;
/** The years 1 to 9999, which databases can hold. */
const firstMs = Date.parse("0001-01-01T00:00:00.000Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/** Returns the error in the first line of an export, if any. */
export function checkConversationLine(line: unknown): string | undefined {
  if (!isFields(line)) return "a line is an object";
  if (line.format !== format) return `the format ${shown(line.format)} is not ${format}`;
  if (!isWhole(line.lastSeq, mostSeq)) return "lastSeq: a whole number of at least 0";
  if (!isOptional(line.instructions, isText)) return "instructions: a text";
  if (!isOptional(line.compactThreshold, isWhole)) return "compactThreshold: a whole number of at least 0";
  if (!isOptional(line.metadata, isFields)) return "metadata: an object";
  const meta = line.conversation;
  if (!isFields(meta)) return "conversation: an object";
  if (!isText(meta.id)) return "conversation.id: a text";
  if (!isOptional(meta.parentId, isText)) return "conversation.parentId: a text";
  if (!isOptional(meta.forkedAtSeq, (seq) => isWhole(seq))) return "conversation.forkedAtSeq: a whole number";
  if (!isText(meta.title)) return "conversation.title: a text";
  if (meta.status !== "idle" && meta.status !== "closed") return "conversation.status: idle or closed";
  if (!isMoment(meta.createdAt)) return "conversation.createdAt: milliseconds";
  if (!isMoment(meta.lastActivityAt)) return "conversation.lastActivityAt: milliseconds";
  if (!isOptional(meta.model, isText)) return "conversation.model: a text";
  if (!isOptional(meta.reasoningEffort, isText)) return "conversation.reasoningEffort: a text";
  if (!isOptional(meta.pinned, (pinned) => pinned === true)) return "conversation.pinned: true, or absent";
  return unknownField("", line, conversationFields) ?? unknownField("conversation.", meta, metaFields);
}

/** Returns the error in a chunk's line, if any. The chunk itself is checked later. */
export function checkChunkLine(line: unknown): string | undefined {
  if (!isFields(line)) return "a line is an object";
  const { seq, role, chunk, messageId, partIndex, partCount } = line;
  if (!isWhole(seq, mostSeq)) return "seq: a whole number";
  if (typeof role !== "string" || !Object.hasOwn(roles, role)) return `the role ${shown(role)} is not known`;
  if (!isFields(chunk)) return "chunk: an object";
  if (typeof chunk.type !== "string" || !Object.hasOwn(chunkTypes, chunk.type)) {
    return `chunks of the type ${shown(chunk.type)} are not known to this version`;
  }
  if (!isText(messageId) || messageId === "") return "messageId: a text";
  if (!isMoment(line.createdAt)) return "createdAt: milliseconds";
  if (!isWhole(partIndex, mostSeq)) return "partIndex: a whole number";
  if (!isWhole(partCount, mostSeq) || partIndex >= partCount) return "partCount: more than partIndex";
  if (!isOptional(line.turnId, isText)) return "turnId: a text";
  if (!isOptional(line.stepId, isText)) return "stepId: a text";
  if (chunk.covers !== undefined) return checkCovers(chunk, seq);
  return line.undone === undefined ? undefined : "undone: only a summary can be";
}

function checkCovers({ type, covers }: { readonly [key: string]: unknown }, seq: number): string | undefined {
  if (type !== "system") return "covers: only a system chunk has it";
  if (!isFields(covers)) return "covers: an object";
  const { firstSeq, lastSeq } = covers;
  if (isWhole(firstSeq, mostSeq) && isWhole(lastSeq, seq - 1) && firstSeq >= 1 && firstSeq <= lastSeq) {
    return undefined;
  }
  return "covers: a summary stands for seqs before its own";
}

/** Returns the error in a turn's line, if any. */
export function checkTurnLine(line: unknown): string | undefined {
  if (!isFields(line)) return "a line is an object";
  const { turnId, metrics, providerCalls } = line;
  if (!isText(turnId) || turnId === "") return "turnId: a text";
  if (!isMoment(line.startedAt)) return "startedAt: milliseconds";
  if (!isOptional(line.sealedAt, isMoment)) return "sealedAt: milliseconds";
  if (!isFields(metrics)) return "metrics: an object";
  if (metrics.turnId !== turnId) return "metrics.turnId: the turn's own";
  if (!isUsage(metrics.usage)) return "metrics.usage: counters of tokens";
  if (!Array.isArray(metrics.steps) || !metrics.steps.every(isFields)) return "metrics.steps: a list";
  if (!isOptional(metrics.reason, isText)) return "metrics.reason: a text";
  if (!isOptional(metrics.durationMs, isNumber)) return "metrics.durationMs: milliseconds";
  if (!isOptional(metrics.contextSize, isNumber)) return "metrics.contextSize: tokens";
  if (!Array.isArray(providerCalls)) return "providerCalls: a list";
  for (const call of providerCalls as unknown[]) {
    if (!isFields(call)) return "providerCalls: a list of calls";
    const { id, stepId, model, provider, startedAt } = call;
    if (![id, stepId, model, provider].every(isText)) {
      return "providerCalls: a call has id, stepId, model and provider";
    }
    if (!isOptional(call.providerModel, isText)) return "providerCalls: providerModel is a text";
    if (!isMoment(startedAt)) return "providerCalls: a call has startedAt, in milliseconds";
    if (!isOptional(call.createdAt, isMoment)) return "providerCalls: createdAt is in milliseconds";
    if (!isOptional(call.usage, isUsage)) return "providerCalls: usage are counters of tokens";
  }
  return unknownField("", line, turnFields);
}

const conversationFields = new Set([
  "type",
  "format",
  "conversation",
  "instructions",
  "compactThreshold",
  "metadata",
  "lastSeq",
]);
/** The conversation that it was compacted from is not imported: its id is dropped. */
const metaFields = new Set([
  "id",
  "createdAt",
  "lastActivityAt",
  "title",
  "status",
  "compactedFrom",
  "model",
  "reasoningEffort",
  "pinned",
  "parentId",
  "forkedAtSeq",
]);
const turnFields = new Set(["type", "turnId", "startedAt", "sealedAt", "metrics", "providerCalls"]);

function unknownField(
  path: string,
  fields: { readonly [key: string]: unknown },
  known: ReadonlySet<string>,
): string | undefined {
  const unknown = Object.keys(fields).find((key) => !known.has(key));
  return unknown === undefined ? undefined : `the field ${path}${unknown} is not known to this version`;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isWhole(value: unknown, most = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most;
}

function isMoment(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= firstMs && value <= lastMs;
}

function isUsage(value: unknown): boolean {
  return isFields(value) && isNumber(value.inputTokens) && isNumber(value.outputTokens);
}

function isOptional(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length <= 60 ? text : `${text.slice(0, 60)}...`;
}
