import { defaultLeasePace, type LeasePace } from "@parley/core/runtime";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../harness/postgres.js";
import { until, within } from "./cluster.js";
import { RunningNode } from "./running-node.js";

/** Leases that do not run out while a test lasts: a take-over has another reason. */
const longLease: LeasePace = { ...defaultLeasePace, ttlMs: 600_000, presenceMs: 200 };

describeOnPostgres(
  "the presence of a node on PostgreSQL",
  (postgres) => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await postgres.createDatabase();
    });
    afterAll(() => database.drop());

    let started = 0;
    async function start(slowMs = 120): Promise<RunningNode> {
      started += 1;
      const node = await RunningNode.start({
        name: `presence-${started}`,
        store: { url: database.url },
        lease: longLease,
        slowMs,
      });
      onTestFinished(() => node.kill());
      return node;
    }

    /** Starts a turn that has reached its slow tool, where the node gets its signal. */
    async function inTool(node: RunningNode, signal: "SIGKILL" | "SIGSTOP" | "none"): Promise<string> {
      const conversationId = `of-${node.name}`;
      await node.arm({ point: { kind: "tool", name: "slow" }, signal });
      const sent = node.send({
        conversationId,
        messageId: `m-${node.name}`,
        message: `do retry m-${node.name}`,
      });
      sent.catch(() => {});
      await within(signal === "SIGKILL" ? node.gone : node.reached(), "the node is at its point");
      return conversationId;
    }

    const ended = (node: RunningNode, conversationId: string) =>
      until(async () => {
        const record = await node.record(conversationId);
        return record !== null && record.active === undefined;
      }, `the turn of ${conversationId} ends`);

    it("ends with a process that is killed: another continues its turn at once, and leaves one alone that hangs", async () => {
      const [frozen, victim, other] = [await start(), await start(), await start()];
      const frozenTurn = await inTool(frozen, "SIGSTOP");
      const left = await inTool(victim, "SIGKILL");
      await ended(other, left);
      const [metrics] = await other.metrics(left);
      expect(metrics?.reason).toBe("stop");
      expect((await other.record(frozenTurn))?.active?.node).toMatch(new RegExp(`^${frozen.name}\\+`));
      frozen.signal("SIGCONT");
      await ended(other, frozenTurn);
      const [kept] = await other.metrics(frozenTurn);
      expect(kept?.reason).toBe("stop");
      expect(frozen.reports).not.toContainEqual(expect.objectContaining({ refused: "stale_fence" }));
    }, 60_000);

    it("is found to have ended by the process that is started in the place of a killed one", async () => {
      const left = await inTool(await start(), "SIGKILL");
      const next = await start();
      await ended(next, left);
      const [metrics] = await next.metrics(left);
      expect(metrics?.reason).toBe("stop");
    }, 60_000);

    it("that ends while the process lives costs it nothing", async () => {
      const [here, other] = [await start(3_000), await start()];
      const conversationId = await inTool(here, "none");
      const client = new pg.Client({ connectionString: database.url });
      onTestFinished(() => client.end());
      await client.connect();
      const end =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley wake'";
      await client.query(`${end} AND datname = current_database()`);
      // A process that is killed now is detected, so checks have been made since.
      const left = await inTool(await start(), "SIGKILL");
      await ended(other, left);
      await ended(other, conversationId);
      const [metrics] = await other.metrics(conversationId);
      expect(metrics?.reason).toBe("stop");
      expect(here.reports).not.toContainEqual(expect.objectContaining({ refused: "stale_fence" }));
    }, 60_000);
  },
  "preferred",
);
