import { ParleyError } from "@parley/core/errors";
import { type Statement, withBudget } from "../../database.js";
import { storedText } from "../../stored-text.js";
import { isRefusal } from "../guard-owners.js";
import type { Shard } from "../shard.js";
import { type ShardSet, shardNamed } from "../sharded-store.js";
import { copyOwner, type OwnerCopy, type OwnerPlace, removeOwner } from "./copy-owner.js";
import { exclusiveMove, otherMove } from "./exclusive-move.js";
import { mapOf, type OwnerState, type OwnerStatus, setState, statusOf } from "./owner-state.js";
import { type OwnerTable, readOwnerTables } from "./owner-tables.js";

/** Progress of a move. Writes of the owner are refused from `pausing` until `moved`. */
export type MoveOwnerProgress =
  | { readonly phase: "copying" | "catching-up"; readonly table: string; readonly rows: number }
  | { readonly phase: "pausing" | "moved" | "removing" };

/** Result of a move. */
export interface MovedOwner {
  readonly from: string;
  readonly to: string;
  /** Rows that were copied, without those of an earlier attempt. */
  readonly rows: number;
  /** Milliseconds in which the owner could not write. 0 if nothing had to be moved. */
  readonly pausedMs: number;
}

export interface MoveOwnerOptions {
  readonly owner: string;
  /** Name of the shard. If the owner is there already, the remains of an earlier move are removed elsewhere. */
  readonly to: string;
  readonly onProgress?: (progress: MoveOwnerProgress) => void;
  /** Ends the move while it has not taken effect. The owner stays where it is. */
  readonly signal?: AbortSignal;
}

/** Rounds of copying while the owner is paused, until nothing differs. Sweeps may have removed old rows. */
const rounds = 5;

/**
 * Limits for calls that run when a move begins: milliseconds for the longest statement, and attempts to get a lock, each
 * of which the database repeats and limits.
 */
const limits = { readMs: 15_000, lockAttempts: 3 };

/** Tables that nodes write for all owners at once, without the lock of an owner's row. */
const sweptTables = ["conversation_head", "outbox"] as const;

/**
 * Moves an owner to another shard while it is used.
 *
 * Most rows are copied while the owner works. Then its writes are refused, the rest is copied and compared, and the
 * owner is let in at the new place; nodes continue its turns there, under the same leases. Until then reads continue in
 * the old place. Finally the rows in the old place are removed.
 *
 * The move takes effect when the row of the owner in the old place says `gone`: until then everything that was written
 * there is valid, and nothing in the new place can be used; from then on it is the reverse. An attempt that died before
 * is started again, or undone by a move to the place where the owner is; one that died later is finished.
 *
 * One move of an owner runs at a time. Needs at least two connections to the server of the home shard.
 */
export async function moveOwner(set: ShardSet, options: MoveOwnerOptions): Promise<MovedOwner> {
  const owner = storedText(options.owner);
  return exclusiveMove(set.home, owner, (stillAlone) => moveAlone(set, owner, options, stillAlone));
}

async function moveAlone(
  set: ShardSet,
  owner: string,
  options: MoveOwnerOptions,
  stillAlone: () => Promise<void>,
): Promise<MovedOwner> {
  const { onProgress = () => undefined } = options;
  const source = shardNamed(set, (await mapOf(set.home, owner)) ?? noOwner(options.owner));
  const target = shardNamed(set, options.to);
  const states = await statusOf(set.shards, owner);
  if (source === target) {
    const rows = await tidy(owner, source, states);
    return { from: source.name, to: target.name, rows, pausedMs: 0 };
  }
  refuseSecondMove(states, source, target);
  let isPaused = false;
  const copy = await beginCopy(owner, source, target, (table, rows) => {
    options.signal?.throwIfAborted();
    onProgress({ phase: isPaused ? "catching-up" : "copying", table, rows });
  });
  let rows = 0;
  let pausedMs = 0;
  if (stateIn(states, source) !== "gone") {
    await stillAlone();
    await setState(target, owner, "arriving", source.name);
    rows += await copyOwner(copy, { whole: true });
    rows += await copyOwner(copy);
    onProgress({ phase: "pausing" });
    isPaused = true;
    const pausedAt = performance.now();
    rows += await pausing(source, owner, async () => {
      await stillAlone();
      await setState(source, owner, "leaving", target.name);
      const rest = await copyRest(source, copy);
      await advanceChanges(source, target);
      await stillAlone();
      await setState(source, owner, "gone", target.name, "leaving");
      return rest;
    });
    await arrive(set, owner, source, target);
    pausedMs = performance.now() - pausedAt;
  } else await arrive(set, owner, source, target);
  onProgress({ phase: "moved" });
  await readsEnded(source);
  onProgress({ phase: "removing" });
  await removeOwner(placeWhile(source, owner, "gone"), copy.tables, owner);
  return { from: source.name, to: target.name, rows, pausedMs };
}

/**
 * Runs the copy while the owner's writes are refused. On failure the owner stays where it is: nothing has taken effect
 * yet.
 */
async function pausing(source: Shard, owner: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    await setState(source, owner, "here", undefined, "leaving").catch(() => undefined);
    throw error;
  }
}

async function copyRest(source: Shard, copy: OwnerCopy): Promise<number> {
  for (const table of sweptTables) await writesEnded(source, table);
  let rows = 0;
  for (let round = 1; ; round += 1) {
    const copied = await copyOwner(copy);
    rows += copied;
    if (copied === 0) return rows;
    if (round === rounds) {
      throw new ParleyError(
        "internal",
        "The copy keeps differing from the original. The owner stays where it is; run the command again",
        { retryable: false, details: { reason: "copy_differs" } },
      );
    }
  }
}

/** Makes the owner usable in the new place. Doing it again changes nothing. */
async function arrive({ home }: ShardSet, owner: string, source: Shard, target: Shard): Promise<void> {
  await setState(target, owner, "here", source.name);
  await home.database.query({
    text: "UPDATE parley.owner_shard SET shard = $2 WHERE owner = $1",
    values: [owner, target.name],
  });
}

/** Removes from other places what attempts to move an owner, and finished moves, have left. */
async function tidy(owner: string, source: Shard, states: readonly OwnerStatus[]): Promise<number> {
  const state = stateIn(states, source);
  const second = states.find((each) => each.shard !== source && each.state === "here");
  if (second !== undefined || state === "gone") {
    const there = second ?? states.find((each) => each.state === "arriving");
    throw refusal(tookEffect(there?.shard.name ?? "another shard"));
  }
  await setState(source, owner, "here", undefined, "leaving");
  let rows = 0;
  for (const each of states) {
    if (each.shard === source || each.state === undefined) continue;
    if (each.state === "arriving") await setState(each.shard, owner, "gone", source.name);
    const tables = await readOwnerTables(placeOf(each.shard), each.shard.schema);
    rows += await removeOwner(placeWhile(each.shard, owner, "gone"), tables, owner);
  }
  return rows;
}

function refuseSecondMove(states: readonly OwnerStatus[], source: Shard, target: Shard): void {
  const there = stateIn(states, target);
  const others = states.filter(({ shard }) => shard !== source && shard !== target);
  const arriving = others.find(({ state }) => state === "arriving");
  if (stateIn(states, source) === "gone") {
    if (there === "here") return;
    const place = others.find(({ state }) => state === "here") ?? arriving;
    if (place !== undefined) throw refusal(tookEffect(place.shard.name));
    if (there === "arriving") return;
    throw refusal(
      `The owner has left ${source.name}, and none of the configured shards has it. Add the missing one to store.shards`,
    );
  }
  const second = there === "here" ? target : others.find(({ state }) => state === "here")?.shard;
  if (second !== undefined) {
    throw refusal(
      `The owner is in ${source.name} and in ${second.name}. Do not move it before that is explained`,
    );
  }
  if (arriving === undefined) return;
  const { name } = arriving.shard;
  throw refusal(
    `A move of this owner to ${name} was begun. Finish it by a move there, or undo it by a move to ${source.name}`,
  );
}

function tookEffect(name: string): string {
  return `The move of this owner to ${name} took effect. Finish it by a move there`;
}

function refusal(message: string): ParleyError {
  return new ParleyError("invalid_request", message, { details: { field: "to" } });
}

function stateIn(states: readonly OwnerStatus[], shard: Shard): OwnerState | undefined {
  return states.find((each) => each.shard === shard)?.state;
}

async function beginCopy(
  owner: string,
  source: Shard,
  target: Shard,
  onCopied: OwnerCopy["onCopied"],
): Promise<OwnerCopy> {
  const [from, to] = [placeOf(source), placeWhile(target, owner, "arriving")];
  const [tables, targetTables] = await Promise.all([
    readOwnerTables(from, source.schema),
    readOwnerTables(placeOf(target), target.schema),
  ]);
  if (shapeOf(tables) !== shapeOf(targetTables)) {
    throw new ParleyError(
      "internal",
      `The tables of ${source.name} and ${target.name} differ. Bring both up with parley migrate`,
      { retryable: false },
    );
  }
  return { owner, source: from, target: to, tables, targetTables, onCopied };
}

function shapeOf(tables: readonly OwnerTable[]): string {
  return JSON.stringify(tables.map(({ name, columns, key }) => ({ name, columns, key })));
}

/** Returns a shard for statements that name its schema. */
export function placeOf({ schema, server }: Shard): OwnerPlace {
  const patient = withBudget(server, "long");
  return { schema, query: (statement) => patient.query(statement) };
}

/**
 * Returns a shard for statements that must run only while the owner has a state there. A process that was frozen must
 * not write to a place that is in use meanwhile. Costs no extra round trip.
 */
export function placeWhile(shard: Shard, owner: string, state: OwnerState): OwnerPlace {
  const patient = withBudget(shard.server, "long");
  const guard: Statement = {
    text: `SELECT 1 / (count(*) = 1)::int4 AS held FROM (
      SELECT 1 FROM "${shard.schema}".shard_owner WHERE owner = $1 AND state = $2 FOR SHARE
    ) AS held`,
    values: [owner, state],
  };
  return {
    schema: shard.schema,
    async query(statement) {
      try {
        return (await patient.batch([guard, statement]))[1] ?? [];
      } catch (error) {
        throw isRefusal(error) ? otherMove(error) : error;
      }
    },
  };
}

/** Waits until no running transaction writes the table. Other transactions wait for that moment, too. */
async function writesEnded({ database }: Shard, table: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.transaction((connection) =>
        connection.query({ text: `LOCK TABLE parley.${table} IN EXCLUSIVE MODE` }),
      );
      return;
    } catch (error) {
      if (attempt === limits.lockAttempts) throw error;
    }
  }
}

/**
 * Advances the target's change numbers to the source's: watchers have seen those. Numbers that are ahead are not set: one
 * that another owner takes at the same time would be given out twice.
 */
async function advanceChanges(source: Shard, target: Shard): Promise<void> {
  const [row] = await source.database.query({
    text: "SELECT last_value::text AS last FROM parley.conversation_change",
  });
  await target.database.query({
    text: `SELECT setval('parley.conversation_change', $1::int8)::text AS advanced
      FROM parley.conversation_change WHERE last_value < $1::int8`,
    values: [String(row?.last)],
  });
}

/**
 * Waits for readers that started before the owner was gone, for a limited time: then their calls fail and are repeated.
 */
async function readsEnded({ database }: Shard): Promise<void> {
  const [start] = await database.query({ text: "SELECT clock_timestamp()::text AS at" });
  for (const end = performance.now() + limits.readMs; performance.now() < end; ) {
    const [row] = await database.query({
      text: `SELECT count(*)::int4 AS open FROM pg_catalog.pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
          AND xact_start < $1::timestamptz AND application_name = 'parley'`,
      values: [String(start?.at)],
    });
    if (Number(row?.open) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function noOwner(owner: string): never {
  throw new ParleyError("invalid_request", `There is no owner ${owner}`, { details: { field: "owner" } });
}
