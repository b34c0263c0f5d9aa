import { ParleyError } from "@parley/core/errors";
import type { AdmitInput, AdmitOutcome, ConversationSettings } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import {
  addLog,
  appendRow,
  checkMessages,
  checkNewId,
  findLog,
  type Log,
  type MemoryDatabase,
  touch,
} from "../database.js";
import { checkFiles } from "../files.js";
import { queueStateOf } from "../record.js";
import { checkSeal, sealWaiting } from "./commit.js";
import { checkTurnId, openTurn, turnActive } from "./lease.js";

/** Admits a message. Everything is checked before the first change, so that a refusal leaves nothing behind. */
export function admit(db: MemoryDatabase, owner: string, input: AdmitInput): AdmitOutcome {
  const found = findLog(db, owner, input.conversationId);
  if (found === undefined) checkNewId(input.conversationId);
  checkMessages([input.message, ...(input.before ?? [])], input.conversationId);
  if (found !== undefined) {
    const known = knownAdmission(found, input);
    if (known !== undefined) return known;
    checkAdmission(db, found, input);
  }
  checkFiles(db, owner, [input.message, ...(input.before ?? [])]);
  const created = found === undefined;
  const log = found ?? createFor(db, owner, input);
  return admitInto(db, log, input, created);
}

/** Returns the outcome of an earlier admission of the same message. Refuses the same id with another body. */
export function knownAdmission(
  log: Log,
  input: Pick<AdmitInput, "message" | "bodyHash">,
): (AdmitOutcome & { kind: "known" }) | undefined {
  const receipt = log.receipts.get(input.message.id);
  if (receipt === undefined) return undefined;
  if (receipt.bodyHash !== input.bodyHash) {
    throw new ParleyError("message_conflict", undefined, { details: { messageId: input.message.id } });
  }
  return {
    kind: "known",
    outcome: receipt.outcome,
    ...omitUndefined({ turnId: receipt.turnId }),
  };
}

function checkAdmission(db: MemoryDatabase, log: Log, input: AdmitInput): void {
  if (log.archiveOf !== undefined) {
    throw new ParleyError("conversation_closed", "An archive takes no messages");
  }
  if (log.rowsById.has(input.message.id)) {
    throw new ParleyError("message_conflict", undefined, { details: { messageId: input.message.id } });
  }
  if (log.active?.waitingSince !== undefined && input.sealWaiting !== undefined) {
    checkSeal(db, log, input.sealWaiting);
    checkTurnId(log, input.turnId);
  } else if (log.active === undefined) checkTurnId(log, input.turnId);
  else if (input.ifBusy === "reject") throw turnActive(log);
  else if (log.queue.length >= input.queueLength) {
    const { queueLength } = input;
    throw new ParleyError("queue_full", `${queueLength} messages wait already, the limit (queueLength)`, {
      details: { queueLength },
    });
  }
}

function createFor(db: MemoryDatabase, owner: string, input: AdmitInput): Log {
  const settings: ConversationSettings = input.settings ?? {};
  const title = settings.title ?? "";
  const reportedTitle = settings.title ?? input.title;
  return addLog(db, { id: input.conversationId, owner, settings, title, reportedTitle });
}

/** Admits a message that was checked. */
export function admitInto(
  db: MemoryDatabase,
  log: Log,
  input: Omit<AdmitInput, "conversationId">,
  created: boolean,
): AdmitOutcome {
  if (log.title === "") log.title = input.title;
  log.closed = false;
  const sealed =
    log.active?.waitingSince === undefined || input.sealWaiting === undefined
      ? undefined
      : sealWaiting(db, log, input.sealWaiting);
  if (log.active !== undefined) {
    if (input.before !== undefined) throw turnActive(log);
    const { turnId, purpose } = log.active;
    log.queue.push({
      id: input.message.id,
      message: input.message,
      mode: input.mode,
      queuedAt: db.clock.now(),
      choices: input.choices,
    });
    log.receipts.set(input.message.id, { bodyHash: input.bodyHash, outcome: "queued" });
    touch(db, log);
    return {
      kind: "queued",
      log: log.number,
      queue: queueStateOf(log),
      ...(purpose === "turn" ? { turnId } : {}),
    };
  }
  for (const message of input.before ?? []) log.sealedSeq = appendRow(db, log, message, {}).lastSeq;
  const turn = openTurn(db, log, { ...input, messages: [input.message] });
  const { bodyHash, turnId } = input;
  log.receipts.set(input.message.id, { bodyHash, outcome: "started", turnId });
  touch(db, log);
  const ended = sealed === undefined ? {} : { ended: { turnId: input.sealWaiting?.turnId ?? "", sealed } };
  return { kind: "started", turn, created, ...ended };
}
