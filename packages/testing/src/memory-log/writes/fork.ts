import { invalidField } from "@parley/core/errors";
import type { ConversationId } from "@parley/core/messages";
import type { ConversationSettings, ForkInput, ForkResult, OpenedTurn } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import {
  addLog,
  checkMessages,
  checkNewId,
  findLog,
  type Log,
  logOf,
  type MemoryDatabase,
  ownerOf,
} from "../database.js";
import { checkFiles } from "../files.js";
import { recordOf } from "../record.js";
import { isForkPoint, newestModel, sealedTurns } from "../view.js";
import { admitInto, knownAdmission } from "./admit.js";
import { stillOpened } from "./lease.js";

export function fork(db: MemoryDatabase, owner: string, input: ForkInput): ForkResult {
  const origin = logOf(db, owner, input.conversationId);
  if (input.admit !== undefined) checkMessages([input.admit.message], input.newId);
  const existing = findLog(db, owner, input.newId);
  if (existing !== undefined) {
    const forked = forkedBefore(db, existing, origin, input);
    if (input.chatId !== undefined) ownerOf(db, owner).branches.set(input.chatId, existing);
    return forked;
  }
  if (!isForkPoint(origin, input.atSeq)) {
    throw invalidField("atSeq", "a fork leaves where a sealed turn ends, or at 0");
  }
  checkNewId(input.newId);
  if (input.admit !== undefined) checkFiles(db, owner, [input.admit.message]);
  const log = addFork(db, origin, {
    id: input.newId,
    atSeq: input.atSeq,
    title: input.title ?? origin.title,
  });
  if (input.chatId !== undefined) ownerOf(db, owner).branches.set(input.chatId, log);
  const outcome = input.admit === undefined ? undefined : admitInto(db, log, input.admit, true);
  return {
    conversation: recordOf(db, log),
    created: true,
    ...(outcome?.kind === "started" ? { turn: outcome.turn } : {}),
  };
}

/** Adds a log that continues another one after `atSeq`, with its settings and the compactions in force there. */
export function addFork(
  db: MemoryDatabase,
  origin: Log,
  input: { id: ConversationId; atSeq: number; title: string; archiveOf?: ConversationId },
): Log {
  const settings: ConversationSettings = structuredClone(origin.settings);
  const log = addLog(db, {
    id: input.id,
    owner: origin.owner,
    settings,
    title: input.title,
    parent: { log: origin, seq: input.atSeq },
    ...omitUndefined({ archiveOf: input.archiveOf }),
  });
  const contextSize = sealedTurns(log).findLast((turn) => turn.sealed?.metrics?.contextSize !== undefined)
    ?.sealed?.metrics?.contextSize;
  if (contextSize !== undefined) log.contextSize = contextSize;
  const lastModel = newestModel(log) ?? origin.lastModel;
  if (lastModel !== undefined) log.lastModel = lastModel;
  return log;
}

function forkedBefore(db: MemoryDatabase, log: Log, origin: Log, input: ForkInput): ForkResult {
  const same = log.parent?.log === origin && log.parent.seq === input.atSeq && log.archiveOf === undefined;
  if (!same) throw invalidField("id", "used by another conversation");
  let turn: OpenedTurn | undefined;
  if (input.admit !== undefined) {
    const known = knownAdmission(log, input.admit);
    // Fork and message are one transaction: a fork that lacks the message is another one.
    if (known === undefined) throw invalidField("id", "the fork exists, with another message or none");
    if (known.turnId !== undefined) turn = stillOpened(log, known.turnId, input.admit.node);
  }
  return {
    conversation: recordOf(db, log),
    created: false,
    ...omitUndefined({ turn }),
  };
}
