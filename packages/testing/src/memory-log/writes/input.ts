import { invalidField, ParleyError } from "@parley/core/errors";
import {
  type ConversationMessage,
  inputEntryOfMessage,
  inputMessage,
  stableValue,
  type TurnId,
} from "@parley/core/messages";
import type {
  AddInputs,
  GrantRecord,
  InputRecord,
  InputRequest,
  LogNumber,
  RespondInput,
  RespondResult,
} from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { InputResponseEntry } from "@parley/wire";
import {
  appendRow,
  type Input,
  type Log,
  logOf,
  type MemoryDatabase,
  ownerOf,
  type Row,
  type Turn,
  touch,
} from "../database.js";
import { inputsOf } from "../reads/inputs.js";
import { report } from "../report.js";
import { heldLease, reopen, staleFence } from "./lease.js";

/** Writes the requests of a step. Existing ones stay as they are. */
export function addInputs(
  db: MemoryDatabase,
  log: Log,
  turnId: TurnId,
  requests: readonly InputRequest[],
): void {
  for (const { expiresMs, expiresAt: _, ...request } of requests) {
    if (log.inputs.has(request.requestId)) continue;
    const createdAt = db.clock.now();
    const expiry = expiresMs === undefined ? {} : { expiresAt: createdAt + expiresMs };
    const record: InputRecord = { ...request, turnId, createdAt, ...expiry };
    log.inputs.set(request.requestId, { record, isLogged: false });
    const { requestId, kind, toolName, expiresAt } = record;
    report(db, log, "input.requested", {
      turnId,
      requestId,
      kind,
      toolName,
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    });
  }
}

export function addRunningInputs(db: MemoryDatabase, owner: string, input: AddInputs): void {
  const { conversationId, turnId, fence } = input;
  const log = logOf(db, owner, conversationId);
  const active = heldLease(log, turnId, fence);
  if (active.waitingSince !== undefined) throw staleFence(log, turnId);
  if (!log.turnsById.has(turnId)) throw new ParleyError("invalid_request", "A compaction makes no requests");
  addInputs(db, log, turnId, input.inputs);
  touch(db, log);
}

/** Returns the messages with the responses that are in force in place of those that came too late. */
export function withDecisions(
  db: MemoryDatabase,
  log: Log,
  messages: readonly ConversationMessage[],
): ConversationMessage[] {
  return messages.map((message) => {
    const entry = inputEntryOfMessage(message);
    const input = entry?.type === "input-response" ? log.inputs.get(entry.requestId) : undefined;
    if (entry?.type !== "input-response" || input === undefined) return message;
    const { conversationId, createdAt } = message;
    const response = input.record.response ?? entry;
    decide(db, log, input, response);
    input.isLogged = true;
    return inputMessage(response, { conversationId, createdAt });
  });
}

function decide(db: MemoryDatabase, log: Log, input: Input, response: InputResponseEntry): void {
  if (input.record.response !== undefined) return;
  input.record = { ...input.record, response, decidedAt: db.clock.now() };
  const { turnId, requestId, kind, toolName } = input.record;
  const { decision, via } = response;
  report(db, log, "input.answered", { turnId, requestId, kind, toolName, decision, via });
}

/** Answers every request of a turn that ends, and writes what is not in the log yet. */
export function closeInputs(db: MemoryDatabase, log: Log, turn: Turn, via: string): Row[] {
  const rows: Row[] = [];
  for (const input of inputsOf(log, turn.id)) {
    if (input.isLogged) continue;
    decide(db, log, input, deniedBy(input, via));
    rows.push(logResponse(db, log, turn, input));
  }
  return rows;
}

function deniedBy({ record }: Input, via: string): InputResponseEntry {
  const { requestId, toolCallId, toolName } = record;
  return { type: "input-response", requestId, toolCallId, toolName, decision: "deny", via };
}

function logResponse(db: MemoryDatabase, log: Log, turn: Turn, input: Input): Row {
  const { response, stepId } = input.record;
  if (response === undefined) throw new TypeError("a response that is written was recorded");
  input.isLogged = true;
  const createdAt = new Date(db.clock.now());
  return appendRow(db, log, inputMessage(response, { conversationId: log.id, createdAt }), { turn, stepId });
}

export function respond(db: MemoryDatabase, owner: string, request: RespondInput): RespondResult {
  const log = logOf(db, owner, request.conversationId);
  const input = log.inputs.get(request.requestId);
  if (input === undefined) {
    throw new ParleyError("conversation_not_found", "No such request in this conversation");
  }
  const { turnId, argumentsHash } = input.record;
  const given = request.argumentsHash;
  if (given !== undefined && given !== argumentsHash) {
    throw invalidField("argumentsHash", "is not the hash of the call's arguments");
  }
  const before = input.record.response;
  const isStopped = log.active?.turnId === turnId && log.active.stopRequested;
  const isExpired = (input.record.expiresAt ?? Infinity) <= db.clock.now();
  if (before === undefined && (isStopped || isExpired)) {
    const response = deniedBy(input, isStopped ? "stop" : "expiry");
    return { outcome: "decided", log: log.number, ...record(db, log, input, response, "") };
  }
  if (before !== undefined) {
    const outcome = isSame(before, request.response) ? "repeated" : "decided";
    return { outcome, log: log.number, turnId, response: before };
  }
  addGrant(db, log, input, request);
  return { outcome: "recorded", log: log.number, ...record(db, log, input, request.response, request.node) };
}

/** Records a response; if the turn waits, reopens it. The node that holds it then writes the entry. */
function record(
  db: MemoryDatabase,
  log: Log,
  input: Input,
  response: InputResponseEntry,
  node: string,
): Pick<RespondResult, "turnId" | "response" | "lease"> {
  decide(db, log, input, response);
  touch(db, log);
  const { turnId } = input.record;
  const turn = log.turnsById.get(turnId);
  const { active } = log;
  if (turn === undefined || active?.turnId !== turnId || active.waitingSince === undefined) {
    return { turnId, response };
  }
  return { turnId, response, lease: reopen(db, log, active, node) };
}

/** Returns true for the same decision, regardless of its sender and channel. */
function isSame(left: InputResponseEntry, right: InputResponseEntry): boolean {
  return decisionText(left) === decisionText(right);
}

function decisionText({ by: _, via: _via, ...decision }: InputResponseEntry): string {
  return JSON.stringify(stableValue(decision));
}

function addGrant(db: MemoryDatabase, log: Log, { record }: Input, request: RespondInput): void {
  const { response, grantId: id } = request;
  if (record.kind !== "approval" || response.decision !== "allow") return;
  const scope = response.scope ?? (record.remember ? { in: "conversation" as const } : undefined);
  if (scope === undefined) return;
  const { toolName, toolHash, requestId } = record;
  const grant: GrantRecord = {
    id,
    toolName,
    toolHash,
    scope,
    createdAt: db.clock.now(),
    requestId,
    ...(scope.in === "conversation" ? { conversationId: log.id } : {}),
    ...omitUndefined({ by: response.by }),
  };
  ownerOf(db, log.owner).grants.set(id, { grant, log });
}

export function removeGrant(db: MemoryDatabase, owner: string, id: string): boolean {
  return ownerOf(db, owner).grants.delete(id);
}

export function expireInputs(db: MemoryDatabase, limit: number): LogNumber[] {
  const now = db.clock.now();
  const due = [...db.leased].flatMap((log) =>
    [...log.inputs.values()].flatMap((input) => {
      const { response, expiresAt, turnId } = input.record;
      const isDue = response === undefined && expiresAt !== undefined && expiresAt <= now;
      return isDue && log.active?.turnId === turnId ? [{ log, input, expiresAt }] : [];
    }),
  );
  due.sort((left, right) => left.expiresAt - right.expiresAt);
  const logs = new Set<LogNumber>();
  for (const { log, input } of due.slice(0, Math.max(0, limit))) {
    record(db, log, input, deniedBy(input, "expiry"), "");
    logs.add(log.number);
  }
  return [...logs];
}
