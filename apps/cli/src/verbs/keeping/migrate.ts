import { rm } from "node:fs/promises";
import { omitUndefined } from "@parley/fold";
import type { MoveProgress } from "@parley/store/embedded";
import { CliError, usageError } from "../../cli-error.js";
import { describeStore, type FolderConfig, openStore } from "../../compose/store.js";
import { loadConfig } from "../../config/load-config.js";
import { findServer } from "../../server-file.js";
import type { VerbContext } from "../../verb-context.js";

export interface MigrateOptions {
  readonly json?: boolean;
  readonly to?: "postgres";
  readonly olderBin?: string;
  readonly removeOld?: boolean;
}

/** Updates the store's schema, as a server does when it starts: for those who want it done before. */
export async function migrate(options: MigrateOptions, context: VerbContext): Promise<void> {
  const { io, globals } = context;
  const config = await loadConfig({ flags: globals });
  const place = describeStore(config.store);
  const running = config.store.kind === "folder" ? await findServer(config.store) : undefined;
  if (options.to !== undefined) {
    if (config.store.kind !== "folder") {
      throw usageError(
        `${place} is a PostgreSQL server already: only a store in a folder can be moved.`,
        "Name the folder with --store.",
      );
    }
    if (running !== undefined) {
      throw new CliError(`A server runs on ${place} (${running}).`, { advice: "Stop it, and try again." });
    }
    return move(config.store, options, context);
  }
  if (running !== undefined) {
    if (options.json) return io.json({ store: place, schema: "current", server: running });
    return io.note(`A server runs on ${place} (${running}): it updated the schema when it started.`);
  }
  const opened = await openStore(config.store, {
    onCreate: () => io.note(`Creating the store in ${place}, once.`),
    onMigration: ({ table, copied, of }) => io.note(`Copying ${table}: ${copied} of about ${of} rows.`),
  });
  try {
    const { schema } = await opened.store.check();
    if (options.json) io.json({ store: place, schema });
    else io.note(`The schema of ${place} is ${schema}.`);
  } finally {
    await opened.close();
  }
}

/** Moves a store of PGlite, or of an older PostgreSQL, to a private PostgreSQL in the same folder. */
async function move(store: FolderConfig, options: MigrateOptions, { io }: VerbContext): Promise<void> {
  const { folder, durable, schema } = store;
  const place = describeStore(store);
  const { moveToPostgres } = await import("@parley/store/embedded");
  const result = await moveToPostgres({
    folder,
    durable,
    ...omitUndefined({ schema, olderBin: options.olderBin }),
    onProgress: (progress) => io.note(progressLine(progress)),
  });
  if (!result.moved) {
    if (options.json) return io.json({ store: place, moved: false });
    return io.note(`${place} is on a private PostgreSQL already.`);
  }
  const { tables, rows, kept } = result;
  if (options.removeOld) await rm(kept, { recursive: true, force: true });
  if (options.json) {
    return io.json({ store: place, moved: true, tables, rows, ...(options.removeOld ? {} : { kept }) });
  }
  io.note(`${place} is on a private PostgreSQL now: ${rows} rows in ${tables} tables, all compared.`);
  if (!options.removeOld) io.note(`The files from before are in ${kept}; remove them when you like.`);
}

function progressLine({ phase, table, rows, of }: MoveProgress): string {
  return phase === "copying"
    ? `Copying ${table}: ${rows} of ${of} rows.`
    : `Comparing ${table}: ${rows} rows.`;
}
