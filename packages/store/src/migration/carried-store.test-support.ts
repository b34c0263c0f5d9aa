import type { LogStore, LogStoreRoot, OpenTurnState } from "@parley/core/ports";

/** Owners of the fixture, each with its own conversations. */
const fixtureOwners = ["ada", "grace"];

/** Time at which keys and logins of the fixture are in use. */
const fixtureTime = 1_763_000_000_000;

/** Reads everything that a store returns about its owners' conversations, in a form that two versions of it share. */
export async function readStore(root: LogStoreRoot): Promise<Record<string, unknown>> {
  const read: Record<string, unknown> = { keys: await root.keys.list() };
  for (const owner of fixtureOwners) {
    const store = root.forOwner(owner);
    read[`${owner} login`] = await root.keys.findLogin(`${owner}-login-hash`, fixtureTime);
    const { conversations } = await store.list({ limit: 100 });
    const archives = ["long", "other"].map((name) => `${owner}-${name}-archive`);
    read[`${owner} list`] = conversations;
    read[`${owner} changes`] = await store.changed({ since: 0, limit: 1_000 });
    read[`${owner} engine`] = await store.listConversations();
    for (const parent of ["gone", "reused", "long"]) {
      const forks = await store.list({ parent: `${owner}-${parent}`, limit: 10 });
      read[`${owner} forks of ${parent}`] = forks.conversations.map(({ id }) => id);
    }
    for (const q of ["apples", "answer", "shared", "running", "settings", "again", "four"]) {
      read[`${owner} search ${q}`] = await store.search({ q, limit: 50 });
    }
    for (const id of [...conversations.map((each) => each.id), ...archives]) {
      read[`${owner} ${id}`] = await readConversation(store, id);
    }
  }
  return JSON.parse(JSON.stringify(read, withoutMoments)) as Record<string, unknown>;
}

/**
 * Removes what differs each time: the number of a log, in a batch of the journal too, and the duration of an open turn.
 */
function withoutMoments(key: string, value: unknown): unknown {
  if (key === "journal" && Array.isArray(value)) {
    return value.map(({ turnId, fence, firstN, count, data }) => ({ turnId, fence, firstN, count, data }));
  }
  return key === "log" || key === "elapsedMs" ? undefined : value;
}

async function readConversation(store: LogStore, id: string): Promise<Record<string, unknown>> {
  const metrics = await store.metrics(id);
  const messages = await store.listMessages(id);
  return {
    record: await store.get(id),
    newest: await store.readNewest({ conversationId: id, limit: 1_000 }),
    chunks: await store.readChunks({ conversationId: id, open: true }),
    sealed: await store.readChunks({ conversationId: id }),
    open: withoutInputs(await store.readOpenTurn({ conversationId: id })),
    queue: await store.queue(id, { op: "list" }),
    metrics,
    turns: await Promise.all(metrics.map(({ turnId }) => store.readTurn(id, turnId))),
    listed: await store.listTurns(id),
    lastCall: await store.lastCall(id),
    messages,
    receipts: await Promise.all(messages.map((each) => store.findReceipt(id, each.id))),
    waiting: await Promise.all(["steer", "queue"].map((mode) => store.findReceipt(id, `${id}.${mode}`))),
  };
}

/** Removes the requests for input: that version had none, and neither have its turns. */
function withoutInputs(state: OpenTurnState | null): Omit<OpenTurnState, "inputs" | "waitedMs"> | null {
  if (state === null) return null;
  const { inputs, waitedMs, ...rest } = state;
  if (inputs.length > 0 || waitedMs !== 0) throw new Error("a turn of that version does not wait");
  return rest;
}
