// Servers with many sockets that follow nothing: of one owner, or with a key each.
import { writeFileSync } from "node:fs";
import pg from "pg";

/** Number of statements that the store has sent. */
let statements = 0;

class CountingClient extends pg.Client {
  constructor(config) {
    super(config);
    const { connection } = this;
    const execute = connection.execute.bind(connection);
    connection.execute = (...args) => {
      statements += 1;
      return execute(...args);
    };
  }
}

/**
 * Starts a server on PostgreSQL whose model answers at once. With `keys`, there are this many keys of
 * `owners` owners, and their secrets are written to the file `secrets`; without, everything belongs to one
 * owner.
 */
export async function parley({ store: { url }, keys = 0, owners = 1, secrets: file }) {
  const [{ createRuntime, createModelCatalog }, { createKey, serve }, messages, { openPostgres }] =
    await Promise.all([
      import("@parley/core/runtime"),
      import("@parley/server"),
      import("@parley/core/messages"),
      import("@parley/store/postgres"),
    ]);
  const provider = {
    complete: () => Promise.reject(new Error("not used")),
    completeStream: async () =>
      messages.createProviderStream(async ({ write }) => {
        const text = "A short answer.";
        await write(new messages.TextDelta(text, text, 0));
        const message = { role: "assistant", content: [{ type: "text", text }] };
        const usage = { inputTokens: 1, outputTokens: 4 };
        write({
          type: "done",
          result: { id: "r", createdAt: new Date(), message, usage, finishReason: "stop" },
        });
      }),
  };
  const opened = openPostgres({ url, driver: { Client: CountingClient } });
  await opened.store.migrate();
  const runtime = await createRuntime({
    store: opened.store,
    wake: opened.wake,
    models: createModelCatalog([
      { name: "bench/one", provider, providerName: "bench", model: "one", contextWindow: 1_000_000 },
    ]),
  });
  const secrets = [];
  for (let index = 0; index < keys; index += 1) {
    const { secret, record } = createKey({ owner: `owner-${index % owners}` });
    await runtime.keys.add(record);
    secrets.push(secret);
  }
  const server = await serve(runtime, {
    port: 0,
    auth: keys > 0 ? "keys" : "open",
    limits: { requestsPerSecond: 1_000_000, requestBurst: 1_000_000, connectionsPerKey: 100_000 },
  });
  if (file !== undefined) writeFileSync(file, JSON.stringify(secrets));
  process.on("message", ({ ask }) => {
    if (ask === "statements") process.send({ statements });
  });
  return server.url;
}
