import type { LogStore, LogStoreRoot, OpenedTurn } from "@parley/core/ports";
import { admission, batch, commit, message, sealing } from "./postgres/turns.test-support.js";

/** The owners of the store that `fillStore` makes, each with conversations of its own. */
export const fixtureOwners = ["ada", "grace"];

/** The time at which keys and logins of the fixture are in use. */
export const fixtureTime = 1_763_000_000_000;

async function turn(store: LogStore, id: string, text: string, given: object = {}): Promise<OpenedTurn> {
  const first = message(id, text, "user", `${id}.${text}.question`);
  const input = { ...admission(id, text, given), message: first, turnId: `${id}.${text}.turn` };
  const outcome = await store.admit(input);
  if (outcome.kind !== "started") throw new Error(`the message was ${outcome.kind}`);
  return outcome.turn;
}

async function sealedTurn(store: LogStore, id: string, text: string): Promise<void> {
  const opened = await turn(store, id, text, { choices: { model: "demo/one" } });
  const held = { ...opened, conversationId: id };
  const call = {
    ...message(id, "", "assistant", `${id}.${text}.call`),
    content: [
      { type: "text" as const, text: `Looking for ${text}` },
      {
        type: "tool-call" as const,
        name: "look",
        arguments: { q: text },
        argumentsText: `{"q":"${text}"}`,
        toolCallId: `${text}.1`,
      },
    ],
  };
  await store.commitStep({
    ...commit(held, [call]),
    providerCalls: [{ id: `${id}.${text}.p`, createdAt: new Date(1_700_000_000_000) }] as never,
  });
  const answer = message(id, `The answer to ${text}`, "assistant", `${id}.${text}.answer`);
  await store.seal({
    ...sealing(held, [answer]),
    metrics: {
      turnId: held.turnId,
      usage: { inputTokens: 10, outputTokens: 4 },
      steps: [],
      contextSize: 14,
      model: "demo/one",
    },
    providerCalls: [{ id: `${id}.${text}.p`, createdAt: new Date(1_700_000_000_000) }] as never,
  });
}

/**
 * Fills a store with all that a database can hold: conversations of two owners, forks, also of a log that was removed
 * and of one whose id was used again, archives, a queue, receipts, an open turn with its journal, a compaction by hand
 * under way, messages outside turns, an indexed and an unindexed part, keys and logins.
 */
export async function fillStore(root: LogStoreRoot): Promise<void> {
  for (const owner of fixtureOwners) {
    const store = root.forOwner(owner);
    const id = (name: string) => `${owner}-${name}`;
    await store.create({
      id: id("settings"),
      settings: {
        title: "Settings \u0000 here",
        model: "demo/one",
        reasoningEffort: "high",
        instructions: "Be brief",
        compactThreshold: 1_000,
        metadata: { colour: "green", list: [1, 2] },
      },
    });
    for (const text of ["one", "two", "three"]) await sealedTurn(store, id("long"), text);
    await sealedTurn(store, id("other"), "apples");
    await store.fork({ conversationId: id("long"), atSeq: 4, newId: id("fork") });
    await sealedTurn(store, id("fork"), "four");
    await store.fork({ conversationId: id("fork"), atSeq: 8, newId: id("fork-of-fork"), title: "Deeper" });
    await compactByHand(store, id("long"));
    await sealedTurn(store, id("long"), "after");
    await store.fork({ conversationId: id("long"), atSeq: 13, newId: id("fork-of-compacted") });
    await compactByHand(store, id("other"));
    await store.undoCompaction(id("other"));
    await removedLogs(store, id);
    await root.indexSearch({ owner, limit: 100 });
    await busy(root, store, id("busy"));
    await store.appendMessages([message(id("settings"), "Outside of turns", "system", id("outside"))]);
    await store.set(id("fork-of-fork"), { closed: true });
  }
  const ada = root.forOwner("ada");
  await ada.create({ id: "ada-compacting", settings: {} });
  await ada.appendMessages([message("ada-compacting", "Old", "user", "ada-compacting.m")]);
  await ada.lease({ conversationId: "ada-compacting", node: "node-2", turnId: "ada-compacting.lease" });
  await keys(root);
}

async function compactByHand(store: LogStore, id: string): Promise<void> {
  const lease = await store.lease({ conversationId: id, node: "node-1", turnId: `${id}.compaction` });
  await store.compact({
    conversationId: id,
    turnId: lease.turnId,
    fence: lease.fence,
    summary: message(id, `Summary of ${id}`, "system", `${id}.summary`),
    covers: { fromSeq: 1, toSeq: 4 },
    archiveId: `${id}-archive`,
    notice: { messagesSummarized: 3, messagesKept: 1 },
    release: { node: "node-1", turnId: `${id}.next`, pauseQueue: false, openNext: true },
  });
}

/** Removed logs that forks still share: one whose id is free, one whose id was used again. */
async function removedLogs(store: LogStore, id: (name: string) => string): Promise<void> {
  for (const name of ["gone", "reused"]) {
    await sealedTurn(store, id(name), "shared");
    await sealedTurn(store, id(name), "unshared");
    await store.fork({ conversationId: id(name), atSeq: 4, newId: id(`heir-of-${name}`) });
    await store.remove(id(name), { cascade: false });
  }
  await sealedTurn(store, id("reused"), "again");
  await store.fork({ conversationId: id("reused"), atSeq: 4, newId: id("fork-of-reused") });
}

/** An open turn with a journal, steers and a queue behind it. */
async function busy(root: LogStoreRoot, store: LogStore, id: string): Promise<void> {
  await sealedTurn(store, id, "before");
  const opened = await turn(store, id, "running");
  const held = { ...opened, conversationId: id };
  await store.commitStep(commit(held, [message(id, "First step", "assistant", `${id}.step`)]));
  await root.flushJournal([batch(held, 3), batch(held, 5)]);
  for (const mode of ["steer", "queue"] as const) {
    const waiting = message(id, `Waiting to ${mode}`, "user", `${id}.${mode}`);
    await store.admit({ ...admission(id, mode), message: waiting, mode, choices: { model: "demo/two" } });
  }
  await store.queue(id, { op: "pause" });
  await store.requestStop(id);
}

async function keys(root: LogStoreRoot): Promise<void> {
  for (const owner of fixtureOwners) {
    await root.keys.add({
      id: `${owner}-key`,
      owner,
      hash: `${owner}-hash`,
      prefix: `${owner}-prefix`,
      scopes: ["read", "write"],
      createdAt: fixtureTime - 1_000,
    });
    await root.keys.addLogin({
      id: `${owner}-login`,
      keyId: `${owner}-key`,
      owner,
      hash: `${owner}-login-hash`,
      createdAt: fixtureTime - 1_000,
      lastUsedAt: fixtureTime - 500,
      expiresAt: fixtureTime + 1_000_000,
    });
  }
  await root.keys.touch("ada-key", fixtureTime);
}

/** Reads all that a store answers about its owners' conversations, in a form that two versions of it share. */
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

/** The number of a log is new, and how long a turn has been open is another one each time. */
function withoutMoments(key: string, value: unknown): unknown {
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
    open: await store.readOpenTurn({ conversationId: id }),
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
