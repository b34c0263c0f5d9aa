import { invalidField, ParleyError } from "@parley/core/errors";
import type { ConversationId, ConversationMessage } from "@parley/core/messages";
import type { OpenedTurn, QueueEntry, QueueOperation, QueueState, TurnChoices } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import { type Log, logOf, type MemoryDatabase, touch } from "../database.js";
import { queueStateOf } from "../record.js";
import { checkTurnId, openNextTurn, stillOpened } from "./lease.js";

export function operateQueue(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  operation: QueueOperation,
): QueueState & { started?: OpenedTurn } {
  const log = logOf(db, owner, id);
  if (operation.op === "list") return queueStateOf(log);
  if (log.archiveOf !== undefined) throw new ParleyError("conversation_closed");
  switch (operation.op) {
    case "edit":
      edit(log, operation);
      break;
    case "remove":
      remove(log, operation.id);
      break;
    case "pause":
      log.queuePaused = true;
      break;
    case "resume":
      return resume(db, log, operation);
  }
  touch(db, log);
  return queueStateOf(log);
}

function resume(
  db: MemoryDatabase,
  log: Log,
  operation: QueueOperation & { op: "resume" },
): QueueState & { started?: OpenedTurn } {
  const before = stillOpened(log, operation.turnId, operation.node);
  if (before !== undefined) return { ...queueStateOf(log), started: before };
  if (log.active === undefined && log.queue.length > 0) checkTurnId(log, operation.turnId);
  log.queuePaused = false;
  const started = log.active === undefined ? openNextTurn(db, log, operation) : undefined;
  if (started !== undefined) log.closed = false;
  touch(db, log);
  return { ...queueStateOf(log), ...omitUndefined({ started }) };
}

function edit(log: Log, operation: QueueOperation & { op: "edit" }): void {
  const entry = waiting(log, operation.id);
  const { before } = operation;
  const others = log.queue.filter((other) => other !== entry);
  const edited: QueueEntry = {
    ...entry,
    message: operation.text === undefined ? entry.message : withText(entry.message, operation.text),
    mode: operation.mode ?? entry.mode,
    choices: withChoices(entry.choices, operation),
  };
  const { tools, output } = edited.choices;
  if (edited.mode === "steer" && (tools ?? output) !== undefined) {
    throw invalidField("mode", "the message has tools or output for a turn of its own");
  }
  if (before === undefined || before === entry.id) {
    log.queue = log.queue.map((other) => (other === entry ? edited : other));
    return;
  }
  const place = before === null ? others.length : others.indexOf(waiting(log, before, "before"));
  others.splice(place, 0, edited);
  log.queue = others;
}

function remove(log: Log, id: string): void {
  const receipt = log.receipts.get(id);
  // Removed before: the same call again.
  const gone = receipt?.outcome === "queued" && receipt.turnId === undefined;
  if (gone && !log.queue.some((entry) => entry.id === id)) return;
  const entry = waiting(log, id);
  log.queue = log.queue.filter((other) => other !== entry);
  if (log.queue.length === 0) log.queuePaused = false;
}

/** Returns the entry, if it still waits. One that was delivered can no longer be changed. */
function waiting(log: Log, id: string, name = "messageId"): QueueEntry {
  const entry = log.queue.find((each) => each.id === id);
  if (entry !== undefined) return entry;
  if (log.receipts.get(id)?.turnId !== undefined) {
    throw new ParleyError("message_conflict", "The message was delivered meanwhile", {
      details: { messageId: id },
    });
  }
  throw invalidField(name, "no such message waits");
}

/** Replaces the old text with the new one, before everything else that the message holds. */
function withText(message: ConversationMessage, text: string): ConversationMessage {
  const others = message.content.filter((part) => part.type !== "text");
  return { ...message, content: [{ type: "text", text }, ...others] };
}

function withChoices(choices: TurnChoices, operation: QueueOperation & { op: "edit" }): TurnChoices {
  const changed: TurnChoices = { ...choices };
  if (operation.model === null) delete changed.model;
  else if (operation.model !== undefined) changed.model = operation.model;
  if (operation.reasoningEffort === null) delete changed.reasoningEffort;
  else if (operation.reasoningEffort !== undefined) changed.reasoningEffort = operation.reasoningEffort;
  return changed;
}
