import { createHash } from "node:crypto";
import { getTableColumns, getTableName, is, Table } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnPostgres } from "../../../../../test/harness/postgres.js";
import {
  admission,
  batch,
  commit,
  message,
  node,
  sealing,
  start,
} from "../../postgres/turns.test-support.js";
import * as schema from "../../schema/index.js";
import type { OpenedShards } from "../open-shards.js";
import type { Shard } from "../shard.js";
import { createTestShards, type TestShards } from "../shards.test-support.js";
import { checkShards, summarizeShards } from "./check-shards.js";
import { countOwner, removeOwner } from "./copy-owner.js";
import { type MoveOwnerProgress, moveOwner, placeOf, placeWhile } from "./move-owner.js";
import { setState, statusOf } from "./owner-state.js";
import { readOwnerTables, stayingTables } from "./owner-tables.js";

const moving = { code: "store_unavailable", retryable: true, details: { reason: "owner_moved" } };
const bytes = Buffer.from("the bytes of a file");
const hash = createHash("sha256").update(bytes).digest("hex");

describeOnPostgres(
  "moving an owner",
  (postgres) => {
    let shards: TestShards;
    let nodes: OpenedShards[];
    beforeAll(async () => {
      shards = await createTestShards(postgres);
      nodes = [shards.open(), shards.open()];
      for (const { store } of nodes) await store.migrate();
    });
    afterAll(async () => {
      for (const { store, wake } of nodes) {
        await wake.close?.();
        await store.close();
      }
      await shards.drop();
    });

    function both(): readonly [OpenedShards, OpenedShards] {
      const [one, other] = nodes;
      if (one === undefined || other === undefined) throw new Error("not open");
      return [one, other];
    }

    /** Returns the owner's shard and another one. */
    async function places(owner: string): Promise<{ from: Shard; to: Shard }> {
      const [{ set }] = both();
      const from = await set.map.find(owner);
      const to = set.shards.find(({ server }) => server !== from.server);
      if (to === undefined) throw new Error("there is one server");
      return { from, to };
    }

    /** Creates an owner with something in every table that an application fills. */
    async function fill(owner: string) {
      const [{ store }] = both();
      const own = store.forOwner(owner);
      await store.heartbeat(node, 600_000);
      await own.addWebhook({
        id: "hook",
        url: "https://x.example",
        label: "",
        events: ["turn.sealed"],
        secret: "s",
        limit: 5,
      });
      await own.beginUpload({ id: "up", stalledMs: 600_000 });
      await own.writePiece({ id: "up", n: 0, data: bytes, stalledMs: 600_000, ownerBytes: 1e9 });
      await own.finishUpload({ id: "up", hash, name: "f", mediaType: "a/b", unsentMs: 600_000 });
      for (let index = 0; index < 12; index += 1) {
        const turn = await start(own, `c${index}`, `Question ${index}`);
        await own.commitStep(commit(turn, [message(turn.conversationId, `Answer ${index}`, "assistant")]));
        await own.seal(sealing(turn));
      }
      await own.fork({ conversationId: "c1", atSeq: 2, newId: "fork" });
      await own.remove("c2", { cascade: false });
      const open = await start(own, "open", "A question");
      await store.flushJournal([batch(open, 0, owner)]);
      await own.admit(admission("open", "Queued", { mode: "queue" }));
      await store.indexSearch({ owner, limit: 1_000 });
      return open;
    }

    async function read(opened: OpenedShards, owner: string): Promise<unknown> {
      const own = opened.store.forOwner(owner);
      const { conversations } = await own.list({ limit: 100 });
      const { blob = 0 } = (await own.findBlob(hash)) ?? {};
      const all = {
        conversations,
        messages: await Promise.all(
          conversations.map(({ id }) => own.readNewest({ conversationId: id, limit: 50 })),
        ),
        open: await own.readOpenTurn({ conversationId: "open" }),
        queue: await own.queue("open", { op: "list" }),
        changes: await own.changed({ since: 0, limit: 100 }),
        webhooks: await own.webhooks(),
        deliveries: await own.deliveries({ webhookId: "hook", limit: 100 }),
        file: Buffer.from((await own.readBlob({ blob, offset: 0, length: 100 })) as Uint8Array).toString(),
        found: (await own.search({ q: "Question", limit: 100 })).hits.map(({ conversationId, seq }) => [
          conversationId,
          seq,
        ]),
        usage: await own.sumUsage({ from: "2000-01-01", to: "2100-01-01", by: "conversation", limit: 100 }),
      };
      // The open turn's duration grows with every read.
      return JSON.parse(
        JSON.stringify(all, (key, value: unknown) => (key === "elapsedMs" ? undefined : value)),
      );
    }

    async function rowsIn(shard: Shard, owner: string): Promise<number> {
      const place = placeOf(shard);
      return countOwner(place, await readOwnerTables(place, shard.schema), owner);
    }

    it("moves all of it, and both nodes go on in the new place with the same turn", async () => {
      const [one, other] = both();
      const open = await fill("ada");
      const before = await read(other, "ada");
      const { from, to } = await places("ada");
      const phases: string[] = [];
      const onProgress = ({ phase }: MoveOwnerProgress) => phases.push(phase);
      const moved = await moveOwner(one.set, { owner: "ada", to: to.name, onProgress });
      expect(moved).toMatchObject({ from: from.name, to: to.name });
      expect(moved.rows).toBeGreaterThan(60);
      expect(moved.pausedMs).toBeGreaterThan(0);
      expect([...new Set(phases)]).toEqual(
        ["copying", "pausing", "catching-up", "moved", "removing"].filter((phase) => phases.includes(phase)),
      );
      expect(await read(other, "ada")).toEqual(before);
      expect(other.set.map.known("ada")?.name).toBe(to.name);
      expect(await rowsIn(from, "ada")).toBe(0);
      expect(await checkShards(one.set)).toEqual([]);
      // The turn that was open continues under its lease, in the new place.
      expect(await other.store.flushJournal([batch(open, 1, "ada")])).toEqual(["ok"]);
      const own = other.store.forOwner("ada");
      const { last } = await own.changed({ since: 0, limit: 1_000 });
      await own.seal(sealing(open));
      expect((await own.changed({ since: last, limit: 10 })).conversations.map(({ id }) => id)).toEqual([
        "open",
      ]);
      await expect(from.store.forOwner("ada").get("open")).rejects.toMatchObject(moving);
    });

    it("goes on while the owner writes, and loses nothing", async () => {
      const [one, other] = both();
      await fill("busy");
      const { to } = await places("busy");
      let isDone = false;
      const written: string[] = [];
      const writing = (async () => {
        for (let index = 0; !isDone || written.length < 20; index += 1) {
          const id = `live${index}`;
          const input = admission(id, `Live ${index}`);
          for (;;) {
            try {
              await other.store.forOwner("busy").admit(input);
              break;
            } catch (error) {
              expect(error).toMatchObject(moving);
            }
          }
          written.push(id);
        }
      })();
      await moveOwner(one.set, { owner: "busy", to: to.name });
      isDone = true;
      await writing;
      const { conversations } = await one.store.forOwner("busy").list({ limit: 10_000 });
      expect(conversations.map(({ id }) => id)).toEqual(expect.arrayContaining(written));
      for (const id of written) {
        const { entries } = await one.store.forOwner("busy").readNewest({ conversationId: id, limit: 5 });
        expect(entries).toHaveLength(1);
      }
    });

    it("that died while the owner was paused is undone by a move back, or ended by another attempt", async () => {
      const [one] = both();
      await fill("undone");
      const before = await read(one, "undone");
      const { from, to } = await places("undone");
      const dying = () => {
        throw new Error("killed");
      };
      // The copy is there, and the pause was not ended.
      await expect(
        moveOwner(one.set, {
          owner: "undone",
          to: to.name,
          onProgress: ({ phase }) => phase === "pausing" && dying(),
        }),
      ).rejects.toThrow("killed");
      await setState(from, "undone", "leaving", to.name);
      const problems = await checkShards(one.set);
      expect(problems.map(({ owner, shard }) => ({ owner, shard }))).toEqual(
        expect.arrayContaining([
          { owner: "undone", shard: from.name },
          { owner: "undone", shard: to.name },
        ]),
      );
      expect((await summarizeShards(one.set)).reduce((sum, each) => sum + each.moving, 0)).toBe(2);
      const third = one.set.shards.find((shard) => shard !== from && shard !== to)?.name ?? "";
      await expect(moveOwner(one.set, { owner: "undone", to: third })).rejects.toMatchObject({
        code: "invalid_request",
      });
      await moveOwner(one.set, { owner: "undone", to: from.name });
      expect(await rowsIn(to, "undone")).toBe(0);
      expect(await read(one, "undone")).toEqual(before);
      await one.store.forOwner("undone").create({ id: "goes-on", settings: {} });
      await moveOwner(one.set, { owner: "undone", to: to.name });
      expect(await one.store.forOwner("undone").get("goes-on")).not.toBeNull();
      expect(await checkShards(one.set)).toEqual([]);
    });

    it("that died after it took effect is finished by the same command, and cannot be undone", async () => {
      const [one, other] = both();
      await fill("finished");
      const before = await read(one, "finished");
      const { from, to } = await places("finished");
      // Like a process that is killed right after the deciding row.
      await moveOwner(one.set, {
        owner: "finished",
        to: to.name,
        onProgress: ({ phase }) => {
          if (phase === "moved") throw new Error("killed");
        },
      }).catch(() => undefined);
      await setState(to, "finished", "arriving", from.name);
      await one.set.home.database.query({
        text: "UPDATE parley.owner_shard SET shard = $1 WHERE owner = 'finished'",
        values: [from.name],
      });
      await expect(other.store.forOwner("finished").get("c1")).rejects.toMatchObject(moving);
      expect((await checkShards(one.set)).length).toBeGreaterThan(0);
      await expect(moveOwner(one.set, { owner: "finished", to: from.name })).rejects.toMatchObject({
        code: "invalid_request",
      });
      await moveOwner(one.set, { owner: "finished", to: to.name });
      expect(await read(other, "finished")).toEqual(before);
      expect(await checkShards(one.set)).toEqual([]);
    });

    it("is refused to a third place once an earlier one took effect", async () => {
      const [one, other] = both();
      await fill("third");
      const before = await read(one, "third");
      const { from, to } = await places("third");
      const third = one.set.shards.find((shard) => shard !== from && shard !== to)?.name ?? "";
      // Like a process that is killed between the two rows that make the owner usable in the new place.
      await moveOwner(one.set, {
        owner: "third",
        to: to.name,
        onProgress: ({ phase }) => {
          if (phase === "moved") throw new Error("killed");
        },
      }).catch(() => undefined);
      await one.set.home.database.query({
        text: "UPDATE parley.owner_shard SET shard = $1 WHERE owner = 'third'",
        values: [from.name],
      });
      const refusal = {
        code: "invalid_request",
        message: `The move of this owner to ${to.name} took effect. Finish it by a move there`,
      };
      await expect(moveOwner(one.set, { owner: "third", to: third })).rejects.toMatchObject(refusal);
      await setState(to, "third", "arriving", from.name);
      await expect(moveOwner(one.set, { owner: "third", to: third })).rejects.toMatchObject(refusal);
      await setState(to, "third", "gone", from.name);
      await expect(moveOwner(one.set, { owner: "third", to: third })).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("none of the configured shards has it"),
      });
      await setState(to, "third", "arriving", from.name);
      await moveOwner(one.set, { owner: "third", to: to.name });
      expect(await read(other, "third")).toEqual(before);
      expect(await checkShards(one.set)).toEqual([]);
    });

    it("is refused while another process moves or undoes the same owner, which loses nothing", async () => {
      const [one, other] = both();
      await fill("twice");
      const before = await read(one, "twice");
      const { from, to } = await places("twice");
      const outcomes: Promise<unknown>[] = [];
      await moveOwner(one.set, {
        owner: "twice",
        to: to.name,
        onProgress() {
          if (outcomes.length > 0) return;
          for (const { name } of [to, from]) {
            outcomes.push(
              moveOwner(other.set, { owner: "twice", to: name }).catch((error: unknown) => error),
            );
          }
        },
      });
      const refusal = { code: "store_unavailable", retryable: true, details: { reason: "other_move" } };
      expect(await Promise.all(outcomes)).toMatchObject([refusal, refusal]);
      expect(await read(other, "twice")).toEqual(before);
      expect(await checkShards(one.set)).toEqual([]);
    });

    it("ends when it may not be the only one any more, and is started again", async () => {
      const [one, other] = both();
      await fill("cut");
      const before = await read(one, "cut");
      const { to } = await places("cut");
      let cut: Promise<unknown> | undefined;
      const moving = moveOwner(one.set, {
        owner: "cut",
        to: to.name,
        onProgress() {
          cut ??= other.set.home.database.query({
            text: `SELECT count(pg_terminate_backend(pid))::int4 AS ended FROM pg_catalog.pg_stat_activity
              WHERE datname = current_database() AND application_name = 'parley move'`,
          });
        },
      });
      await expect(moving).rejects.toMatchObject({ code: "store_unavailable" });
      expect(await cut).toEqual([{ ended: 1 }]);
      expect(await read(one, "cut")).toEqual(before);
      await one.store.forOwner("cut").create({ id: "goes-on", settings: {} });
      await moveOwner(other.set, { owner: "cut", to: to.name });
      expect(await one.store.forOwner("cut").get("goes-on")).not.toBeNull();
    });

    it("writes nothing to a place that is in use, and removes nothing from it", async () => {
      const [one] = both();
      await fill("frozen");
      const { from, to } = await places("frozen");
      const tables = await readOwnerTables(placeOf(from), from.schema);
      for (const state of ["arriving", "gone"] as const) {
        await expect(removeOwner(placeWhile(from, "frozen", state), tables, "frozen")).rejects.toMatchObject({
          details: { reason: "other_move" },
        });
      }
      const rows = await rowsIn(from, "frozen");
      expect(rows).toBeGreaterThan(60);
      await moveOwner(one.set, { owner: "frozen", to: to.name });
      expect(await rowsIn(to, "frozen")).toBe(rows);
    });

    it("leaves the change numbers of the new place alone when they are ahead", async () => {
      const [one] = both();
      await fill("behind");
      const { from, to } = await places("behind");
      const numbers = ({ database }: Shard) =>
        database.query({
          text: "SELECT last_value::float8 AS last, log_cnt::float8 AS logged FROM parley.conversation_change",
        });
      const [{ last } = {}] = await numbers(from);
      await to.database.query({
        text: `SELECT setval('parley.conversation_change', $1::int8)::text AS set`,
        values: [Number(last) + 1_000],
      });
      await to.database.query({ text: "SELECT nextval('parley.conversation_change')::text AS taken" });
      const before = await numbers(to);
      await moveOwner(one.set, { owner: "behind", to: to.name });
      // Setting a sequence forgets the numbers that it has logged ahead.
      expect(await numbers(to)).toEqual(before);
    });

    it("and back again leaves the owner as it was", async () => {
      const [one, other] = both();
      await fill("tourist");
      const before = await read(one, "tourist");
      const { from, to } = await places("tourist");
      await moveOwner(one.set, { owner: "tourist", to: to.name });
      await moveOwner(one.set, { owner: "tourist", to: from.name });
      expect(await read(other, "tourist")).toEqual(before);
      expect(
        (await statusOf(one.set.shards, "tourist")).flatMap(({ state }) => state ?? []).toSorted(),
      ).toEqual(["gone", "here"]);
    });

    it("refuses an owner that does not exist, and a shard that does not", async () => {
      const [{ set }] = both();
      await expect(moveOwner(set, { owner: "nobody", to: "a" })).rejects.toMatchObject({
        code: "invalid_request",
      });
      const { from } = await places("ada");
      await expect(moveOwner(set, { owner: "ada", to: "z" })).rejects.toMatchObject({
        details: { reason: "unknown_shard" },
      });
      expect(from).toBeDefined();
    });

    it("knows every table", async () => {
      const [{ set }] = both();
      const tables = Object.values(schema).flatMap((each): Table[] => (is(each, Table) ? [each] : []));
      const names = tables.map((table) => getTableName(table)).toSorted();
      const moved = await readOwnerTables(placeOf(set.home), set.home.schema);
      expect([...moved.map(({ name }) => name), ...stayingTables].toSorted()).toEqual(names);
      for (const table of tables) {
        const copied = moved.find(({ name }) => name === getTableName(table));
        const columns = Object.values(getTableColumns(table)).map(({ name }) => name);
        if (copied !== undefined)
          expect(copied.columns.map(({ name }) => name).toSorted()).toEqual(columns.toSorted());
      }
    });
  },
  "preferred",
);

describe("a table that nothing leads to", () => {
  it("is an error, for its rows would be lost", async () => {
    const query = async () => [{ table: "stray", name: "id", type: "text", place: 0 }];
    await expect(readOwnerTables({ query }, "parley")).rejects.toThrow(
      "Nothing leads from an owner to the rows of the table stray",
    );
  });
});
