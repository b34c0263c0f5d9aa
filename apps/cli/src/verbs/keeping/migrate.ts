import { describeStore, openStore } from "../../compose/store.js";
import { loadConfig } from "../../config/load-config.js";
import { findServer } from "../../server-file.js";
import type { VerbContext } from "../../verb-context.js";

/** Brings the store's schema up. A server does the same when it starts; this is for those who want it done before. */
export async function migrate(options: { readonly json?: boolean }, context: VerbContext): Promise<void> {
  const { io, globals } = context;
  const config = await loadConfig({ flags: globals });
  const place = describeStore(config.store);
  const running = config.store.kind === "folder" ? await findServer(config.store) : undefined;
  if (running !== undefined) {
    if (options.json) return io.json({ store: place, schema: "current", server: running });
    return io.note(`A server runs on ${place} (${running}): it brought the schema up when it started.`);
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
