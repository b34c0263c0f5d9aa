import { invalidField } from "@parley/core/errors";
import type { ConversationId, TurnId } from "@parley/core/messages";
import type { GrantRecord, InputRecord, OpenInputs, PendingInput } from "@parley/core/ports";
import type { InputResponseEntry } from "@parley/wire";
import { findLog, type Input, type Log, logOf, type MemoryDatabase, ownerOf } from "../database.js";

/** Returns the requests of a turn, each with a mark if its response is in the log. */
export function inputsOf(log: Log, turnId: TurnId): Input[] {
  return [...log.inputs.values()].filter(({ record }) => record.turnId === turnId);
}

/** Returns the requests of a turn, in order. */
export function inputRecords(log: Log, turnId: TurnId): InputRecord[] {
  return inputsOf(log, turnId).map(({ record }) => record);
}

/** Returns the requests that an open turn still waits for. */
export function openInputs(log: Log, turnId: TurnId): OpenInputs | undefined {
  const open = inputsOf(log, turnId).filter(({ record }) => record.response === undefined);
  if (open.length === 0) return undefined;
  return { count: open.length, kinds: [...new Set(open.map(({ record }) => record.kind))] };
}

/** Returns responses of a turn that no entry holds. */
export function unloggedResponses(log: Log, turnId: TurnId): InputResponseEntry[] {
  return inputsOf(log, turnId).flatMap(({ record, isLogged }) =>
    record.response === undefined || isLogged ? [] : [record.response],
  );
}

export function readInput(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  requestId: string,
): InputRecord | null {
  return findLog(db, owner, id)?.inputs.get(requestId)?.record ?? null;
}

export function readResponses(
  db: MemoryDatabase,
  owner: string,
  query: { conversationId: ConversationId; turnId: TurnId },
): InputResponseEntry[] {
  return unloggedResponses(logOf(db, owner, query.conversationId), query.turnId);
}

export function pendingInputs(
  db: MemoryDatabase,
  owner: string,
  query: { conversationId?: ConversationId; limit: number; after?: string },
): { inputs: PendingInput[]; next?: string } {
  const now = db.clock.now();
  const after = query.after === undefined ? undefined : placeIn(query.after);
  const logs =
    query.conversationId === undefined
      ? [...ownerOf(db, owner).logs.values()]
      : [logOf(db, owner, query.conversationId)];
  const pending = logs.flatMap((log) =>
    [...log.inputs.values()].flatMap(({ record }) => {
      const isOver = record.response !== undefined || (record.expiresAt ?? Infinity) <= now;
      if (isOver || log.active?.turnId !== record.turnId) return [];
      return [{ ...record, conversationId: log.id, title: log.title }];
    }),
  );
  // Requests of one conversation were written in order, which the sort keeps.
  const numbered = pending.map((input) => ({ input, place: placeOf(db, owner, input) }));
  numbered.sort((left, right) => compare(left.place, right.place));
  const rest = numbered.filter(({ place }) => after === undefined || compare(place, after) > 0);
  const page = pageOf(rest, query.limit);
  const last = page.at(-1);
  return {
    inputs: page.map(({ input }) => input),
    ...(last === undefined || page.length === rest.length ? {} : { next: last.place.join("~") }),
  };
}

type Place = readonly [createdAt: number, log: number, place: number];

function placeOf(db: MemoryDatabase, owner: string, input: PendingInput): Place {
  const log = logOf(db, owner, input.conversationId);
  return [input.createdAt, log.number, [...log.inputs.keys()].indexOf(input.requestId)];
}

function placeIn(after: string): Place {
  const [, at, log, place] = /^(\d+)~(\d+)~(\d+)$/.exec(after) ?? [];
  if (place === undefined) throw invalidField("after", "not a `nextAfter` of this list");
  return [Number(at), Number(log), Number(place)];
}

function compare(left: Place, right: Place): number {
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/** Returns as many as requested, and fewer if their texts are long. */
function pageOf<Item extends { readonly input: PendingInput }>(
  items: readonly Item[],
  limit: number,
): Item[] {
  const page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (page.length >= Math.max(0, limit) || bytes >= 4_000_000) break;
    page.push(item);
    const { argumentsText, reason = "", schema } = item.input;
    bytes +=
      argumentsText.length + reason.length + (schema === undefined ? 0 : JSON.stringify(schema).length);
  }
  return page;
}

export function grants(
  db: MemoryDatabase,
  owner: string,
  query: { toolName?: string; conversationId?: ConversationId },
): GrantRecord[] {
  const { toolName, conversationId } = query;
  return [...ownerOf(db, owner).grants.values()]
    .map(({ grant }) => grant)
    .filter((grant) => toolName === undefined || grant.toolName === toolName)
    .filter(
      (grant) =>
        conversationId === undefined ||
        grant.conversationId === undefined ||
        grant.conversationId === conversationId,
    )
    .sort((left, right) => right.createdAt - left.createdAt || (left.id > right.id ? -1 : 1))
    .slice(0, 1_000);
}
