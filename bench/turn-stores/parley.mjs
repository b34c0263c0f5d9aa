// The turn through the store, in four commits.
import { metricsOf, turnOf } from "./persisted-turn.mjs";

export async function openParley(url) {
  const { openPostgres } = await import("@parley/store/postgres");
  return persisting(openPostgres({ url, listenUrl: false, maxConnections: 10 }));
}

/**
 * Opens the same store without the statements that write a whole commit at once, to measure their benefit.
 * Each of them is skipped, as if it had written nothing, so that the statements run instead which decide one
 * by one.
 */
export async function openStepByStep(url) {
  const built = (file) => import(new URL(`../../packages/store/dist/${file}`, import.meta.url));
  const { openLogStore } = await built("open-log-store.js");
  const { PostgresDatabase } = await built("postgres/postgres-database.js");
  const database = new PostgresDatabase({ url, maxConnections: 10 });
  const isWhole = ({ name = "" }) => name === "admit" || /^(commit|seal|append)_rows?$/.test(name);
  const stepByStep = {
    query: (statement) => database.query(statement),
    batch: async (statements) =>
      statements.some(isWhole) ? statements.map(() => []) : database.batch(statements),
    transaction: (work) => database.transaction(work),
    close: () => database.close(),
  };
  return persisting({ store: openLogStore(stepByStep) });
}

async function persisting(opened) {
  await opened.store.migrate();
  const store = opened.store.forOwner("owner");
  return {
    close: () => opened.store.close(),
    /** Fills the search index, as a node does after the seals. */
    async index() {
      while ((await opened.store.indexSearch({ owner: "owner", limit: 200 })).more);
    },
    /** Writes the messages of a turn in one call, as an application that runs its own models does. */
    async append(conversationId, number) {
      const { user, calling, results, last } = turnOf(conversationId);
      if (number === 0) await store.createConversation({ id: conversationId, title: "title" });
      await store.appendMessages([user, calling, ...results, last]);
    },
    async turn(conversationId) {
      const { turnId, user, calling, results, last } = turnOf(conversationId);
      const outcome = await store.admit({
        node: "node",
        conversationId,
        message: user,
        bodyHash: "0123456789abcdef",
        ifBusy: "queue",
        mode: "steer",
        choices: {},
        turnId,
        queueLength: 50,
        title: "title",
      });
      const held = { conversationId, turnId, fence: outcome.turn.fence };
      const metrics = metricsOf(turnId);
      const step = { ...held, stepId: `${turnId}.0`, steps: [], providerCalls: [] };
      await store.commitStep({ ...step, messages: [calling], promoteSteers: false });
      await store.commitStep({
        ...step,
        messages: results,
        promoteSteers: true,
        steps: metrics.steps.slice(0, 1),
      });
      await store.seal({
        ...held,
        stepId: `${turnId}.1`,
        messages: [last],
        reason: "stop",
        metrics,
        providerCalls: [],
        next: { node: "node", turnId: `${turnId}x`, pauseQueue: false, openNext: true },
      });
    },
  };
}
