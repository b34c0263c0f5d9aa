import type { MoveOwnerProgress, ShardSet } from "@parley/store/postgres";
import { CliError, usageError } from "../../cli-error.js";
import { openStore } from "../../compose/store.js";
import { loadConfig } from "../../config/load-config.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

interface ShardOptions {
  readonly json?: boolean;
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
          { title: "", text: ({ isHome }) => (isHome ? "keys and map" : "") },
        ],
        { columns: io.columns, paintTitle: (text) => style.bold(text) },
      ),
    );
  });
}

/** Brings up the schema of a shard that was added to the configuration, and makes it known to the others. */
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
    const number = set.numberOf(shard);
    if (options.json) return io.json({ name, schema: shard.schema, number });
    io.note(`The shard ${name} is ready, with the number ${number}. New owners come to it from now on.`);
    io.note("Add it to the configuration of all nodes, and restart them one by one.");
  });
}

/** Moves an owner to another shard, or undoes a move that did not end. */
export async function moveToShard(
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
          ? `The owner "${owner}" is in ${to} already.`
          : `The owner "${owner}" stays in ${to}; ${rows} rows of a move that did not end were removed.`,
      );
    }
    io.note(
      `The owner "${owner}" is in ${to} now: ${rows} rows. It could not write for ${Math.ceil(pausedMs)} ms.`,
    );
  });
}

/** Looks for what moves have left behind. Fails where there is something. */
export async function checkShards(options: ShardOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  await withShards(context, async (set) => {
    const { checkShards: check } = await import("@parley/store/postgres");
    const problems = await check(set);
    if (options.json) io.json(problems);
    else {
      for (const { owner, shard, problem, advice } of problems) {
        io.line(`${shard}: "${owner}": ${problem}. ${advice}.`);
      }
      if (problems.length === 0)
        io.note("Every owner is in one shard, and no move has left anything behind.");
    }
    if (problems.length > 0) throw new CliError(`${problems.length} problems were found.`);
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
  const opened = await openStore(store);
  try {
    if (opened.shards !== undefined) await work(opened.shards);
  } finally {
    await opened.close();
  }
}

function progressLine(progress: MoveOwnerProgress): string {
  switch (progress.phase) {
    case "copying":
      return `Copying ${progress.table}: ${progress.rows} rows.`;
    case "catching-up":
      return `Copying the rest of ${progress.table}: ${progress.rows} rows.`;
    case "pausing":
      return "Pausing the owner's writes.";
    case "moved":
      return "The owner goes on in its new place.";
    case "removing":
      return "Removing its rows from the old place.";
  }
}
