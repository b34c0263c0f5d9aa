import type { CitusNode, MoveOwnerProgress, ShardSet } from "@parley/store/postgres";
import { CliError, usageError } from "../../cli-error.js";
import { openStore } from "../../compose/store.js";
import { loadConfig } from "../../config/load-config.js";
import { counted } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

/** Connections to each server: a move holds one, and copies with others. */
const movingConnections = 4;

interface ShardOptions {
  readonly json?: boolean;
}

/** Options of a move. `all` and `toNode` move a whole shard. */
export interface MoveOptions extends ShardOptions {
  readonly all?: boolean;
  readonly toNode?: string;
}

/** Lists the shards with the number of their owners. */
export async function listShards(options: ShardOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  await withShards(context, async (set) => {
    const { summarizeShards } = await import("@parley/store/postgres");
    const shards = await summarizeShards(set);
    if (options.json) return io.json(shards);
    const { style } = io;
    io.lines(
      table(
        shards,
        [
          { title: "shard", text: ({ name }) => name, paint: (text) => style.cyan(text) },
          { title: "schema", text: ({ schema }) => schema },
          { title: "owners", text: ({ owners }) => String(owners) },
          { title: "moving", text: ({ moving }) => String(moving) },
          { title: "new owners", text: ({ isOpen }) => (isOpen ? "yes" : "no") },
          { title: "", text: ({ isHome }) => (isHome ? "keys and map" : "") },
        ],
        { columns: io.columns, paintTitle: (text) => style.bold(text) },
      ),
    );
  });
}

/**
 * Brings up the schema of a shard that was added to the configuration, and makes it known to the others. Opens a shard
 * that was closed.
 */
export async function addShard(name: string, options: ShardOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  await withShards(context, async (set) => {
    const shard = set.shards.find((each) => each.name === name);
    if (shard === undefined) {
      throw usageError(
        `There is no shard ${name} in the configuration.`,
        `Add { name: "${name}", url: "postgres://..." } behind the others in store.shards, or raise store.schemas.`,
      );
    }
    const { openShard } = await import("@parley/store/postgres");
    const wasClosed = await openShard(set, name);
    const number = set.numberOf(shard);
    if (options.json) return io.json({ name, schema: shard.schema, number });
    if (wasClosed) return io.note(`The shard ${name} takes new owners again.`);
    io.note(`The shard ${name} is ready and takes new owners. Its number is ${number}.`);
    io.note("Add it to the configuration of all nodes, and restart them one by one.");
  });
}

/** Moves an owner to another shard, all owners of a shard, or on Citus a whole shard to another server. */
export async function moveToShard(
  what: string,
  to: string | undefined,
  options: MoveOptions,
  context: VerbContext,
): Promise<void> {
  if (options.toNode !== undefined) {
    if (options.all === true || to !== undefined) {
      throw usageError(
        "With --to-node, a shard is moved to a server: no other shard takes part.",
        "Try: parley shard move second --to-node worker-2:5432",
      );
    }
    return moveToNode(what, nodeOf(options.toNode), options, context);
  }
  if (to === undefined) {
    throw usageError("The shard to move to is missing.", "Try: parley shard move alice second");
  }
  return options.all === true ? moveAll(what, to, options, context) : moveOne(what, to, options, context);
}

async function moveOne(
  owner: string,
  to: string,
  options: ShardOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  await withShards(context, async (set) => {
    const { moveOwner } = await import("@parley/store/postgres");
    const moved = await moveOwner(set, {
      owner,
      to,
      signal: context.signal,
      onProgress: (progress) => io.note(progressLine(progress)),
    });
    if (options.json) return io.json({ owner, ...moved });
    const { from, rows, pausedMs } = moved;
    if (from === to) {
      return io.note(
        rows === 0
          ? `The owner "${owner}" is already in ${to}.`
          : `The owner "${owner}" stays in ${to}. Removed ${counted(rows, "row")} of an interrupted move.`,
      );
    }
    io.note(
      `Moved the owner "${owner}" to ${to}: ${counted(rows, "row")}. Its writes were paused for ${Math.ceil(pausedMs)} ms.`,
    );
  });
}

/** Moves all owners of a shard. Fails if some of them are left in it. */
async function moveAll(from: string, to: string, options: ShardOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  await withShards(context, async (set) => {
    const { findRemovableShards, moveOwners } = await import("@parley/store/postgres");
    const moved = await moveOwners(set, {
      from,
      to,
      signal: context.signal,
      onOwner: ({ owner, number, of }) => io.note(`Moving "${owner}" (${number} of ${of}).`),
    });
    const isRemovable = (await findRemovableShards(set)).includes(from);
    const { owners, rows, longestPauseMs, failures } = moved;
    if (options.json) io.json({ ...moved, isRemovable });
    else {
      for (const { owner, message } of failures) io.line(`"${owner}": ${message}.`);
      io.note(
        owners === 0
          ? `No owner was moved from ${from} to ${to}.`
          : `Moved ${counted(owners, "owner")} from ${from} to ${to}: ${counted(rows, "row")}. ` +
              `The writes of an owner were paused for ${Math.ceil(longestPauseMs)} ms at most.`,
      );
      io.note(`The shard ${from} takes no new owners. To open it again: parley shard add ${from}`);
      if (isRemovable) io.note(removable(from));
    }
    if (failures.length > 0) {
      throw new CliError(`${counted(failures.length, "owner")} of ${from} could not be moved.`, {
        advice: "Run the command again: it goes on with them.",
      });
    }
  });
}

async function moveToNode(
  name: string,
  node: CitusNode,
  options: ShardOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  await withShards(context, async (set) => {
    const { moveSchema, shardNamed } = await import("@parley/store/postgres");
    const shard = shardNamed(set, name);
    io.note(`Citus moves the schema ${shard.schema} to ${node.host}:${node.port}.`);
    await moveSchema(shard, node);
    if (options.json) return io.json({ name, schema: shard.schema, node });
    io.note(`The shard ${name} is on ${node.host}:${node.port} now.`);
  });
}

/** Reads a server's name and port. */
function nodeOf(text: string): CitusNode {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || port === undefined) {
    throw usageError(
      `--to-node needs a host and a port, not ${text}.`,
      "Name it as Citus does, which lists its servers in pg_dist_node: worker-2:5432",
    );
  }
  return { host, port: Number(port) };
}

function removable(name: string): string {
  return `The shard ${name} is empty, and takes no new owners: it can be removed from the configuration of all nodes.`;
}

/** Looks for rows that interrupted moves have left behind. Fails if there are any. */
export async function checkShards(options: ShardOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  await withShards(context, async (set) => {
    const { checkShards: check, findRemovableShards } = await import("@parley/store/postgres");
    const [problems, empty] = [await check(set), await findRemovableShards(set)];
    if (options.json) io.json({ problems, removable: empty });
    else {
      for (const { owner, shard, problem, advice } of problems) {
        io.line(`${shard}: "${owner}": ${problem}. ${advice}.`);
      }
      if (problems.length === 0)
        io.note("No problems: every owner is in one shard, and no interrupted move has left rows behind.");
      for (const name of empty) io.note(removable(name));
    }
    if (problems.length > 0) throw new CliError(`Found ${counted(problems.length, "problem")}.`);
  });
}

async function withShards(context: VerbContext, work: (set: ShardSet) => Promise<void>): Promise<void> {
  const { store } = await loadConfig({ flags: context.globals });
  if (store.kind !== "postgres" || (store.shards ?? store.schemas) === undefined) {
    throw usageError(
      "The store is not divided into shards.",
      "Name them in the configuration: store.shards with the present store as the first one, or store.schemas.",
    );
  }
  const { maxConnections = movingConnections } = store;
  const opened = await openStore({ ...store, maxConnections: Math.max(maxConnections, movingConnections) });
  try {
    if (opened.shards !== undefined) await work(opened.shards);
  } finally {
    await opened.close();
  }
}

function progressLine(progress: MoveOwnerProgress): string {
  switch (progress.phase) {
    case "copying":
      return `Copying ${progress.table}: ${counted(progress.rows, "row")}.`;
    case "catching-up":
      return `Copying the rest of ${progress.table}: ${counted(progress.rows, "row")}.`;
    case "pausing":
      return "Pausing the owner's writes.";
    case "moved":
      return "The owner uses the new shard.";
    case "removing":
      return "Removing its rows from the old shard.";
  }
}
