import { tmpdir } from "node:os";
import { afterAll, describe, expect, it } from "vitest";
import { describeOnPostgres } from "../harness/postgres.js";
import { makeTemporaryFolder } from "../harness/temporary-folder.js";
import { Ground } from "./ground.js";
import { type NamedPoint, namedPoints } from "./points.js";
import { Random } from "./random.js";
import { checkTables, tablesIn, tablesOf } from "./tables.js";

const caseMs = 60_000;

/** Dies at a point, comes back as another process, and goes on. */
async function survive(ground: Ground, { plan, work, ends }: NamedPoint): Promise<void> {
  await ground.use(async (stage) => {
    const [node] = stage.living;
    if (node === undefined) throw new Error("no node runs");
    const message = await stage.killAt(node, plan, work);
    const next = await stage.start();
    stage.moveViewers(next);
    await stage.recover(next, node);
    if (message !== undefined && ends !== undefined)
      expect(ends).toContain(await stage.reasonOf(next, message));
    await stage.nextTurn(next);
  });
}

describe("a node on PGlite", () => {
  const random = new Random(20_261_115);
  const ground = new Ground("lite", random, async () => {
    const folder = makeTemporaryFolder(tmpdir(), "kill-");
    return { store: { folder: folder.path }, remove: async () => folder.remove() };
  });
  afterAll(() => ground.end());

  for (const point of namedPoints("pglite", random)) {
    it(`that dies ${point.name} loses and doubles nothing`, () => survive(ground, point), caseMs);
  }

  it(
    "leaves no trace of its deaths in the tables",
    async () => {
      await ground.use(async (stage) => {
        for (const node of stage.living) await node.close();
        const { folder } = stage.store as { folder: string };
        expect(await checkTables(tablesIn(folder))).toEqual([]);
      });
    },
    caseMs,
  );
});

describeOnPostgres(
  "a node on PostgreSQL",
  (postgres) => {
    const random = new Random(20_261_116);
    const ground = new Ground("pg", random, async () => {
      const { url, drop } = await postgres.createDatabase();
      return { store: { url }, readTables: tablesOf(url), remove: drop };
    });
    afterAll(() => ground.end());

    for (const point of namedPoints("postgres", random)) {
      it(`that dies ${point.name} loses and doubles nothing`, () => survive(ground, point), caseMs);
    }
  },
  "preferred",
);
