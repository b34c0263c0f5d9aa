// The turn through the store, in four commits.
import { metricsOf, turnOf } from "./persisted-turn.mjs";

export async function openParley(url) {
  const { openPostgres } = await import("@parley/store/postgres");
  const opened = openPostgres({ url, listenUrl: false, maxConnections: 10 });
  await opened.store.migrate();
  const store = opened.store.forOwner("owner");
  return {
    close: () => opened.store.close(),
    /** Fills the search index, as a node does behind the seals. */
    async index() {
      while ((await opened.store.indexSearch({ owner: "owner", limit: 200 })).more);
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
