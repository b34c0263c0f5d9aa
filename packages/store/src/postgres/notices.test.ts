import { expect, it, onTestFinished } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import { openPostgres } from "./open-postgres.js";

describeOnPostgres("notices", (postgres) => {
  it("are swept by heartbeats once every node has had the time to read them", async () => {
    const made = await postgres.createDatabase();
    const { store, database } = openPostgres({ url: made.url, listenUrl: false });
    onTestFinished(async () => {
      await store.close();
      await made.drop();
    });
    await store.migrate();
    const me = store.forOwner("me");
    const { last: since } = await me.changed({ limit: 1 });
    for (const id of ["old", "young"]) {
      await me.create({ id, settings: {} });
      await me.remove(id, { cascade: false });
    }
    await database.query({
      text: `UPDATE parley.conversation_notice SET noted_at = noted_at - interval '11 minutes'
        WHERE data->'conversationIds'->>0 = 'old'`,
    });
    await store.heartbeat("n1", 1_000);
    const { notices } = await me.changed({ since, limit: 9 });
    expect(notices).toMatchObject([{ kind: "removed", conversationIds: ["young"] }]);
  });
});
