import type { ConversationMeta } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { readFamily } from "./read-family.js";

const meta = (id: string, parentId?: string): ConversationMeta => ({
  id,
  title: id,
  status: "idle",
  createdAt: 1,
  lastActivityAt: 1,
  ...(parentId === undefined ? {} : { parentId, forkedAtSeq: 4 }),
});

/** Returns a server that has these conversations, and records its requests. */
function serverOf(...metas: readonly ConversationMeta[]) {
  const asked: string[] = [];
  return {
    asked,
    async meta(id: string) {
      asked.push(`meta ${id}`);
      return metas.find((each) => each.id === id);
    },
    async forks(id: string) {
      asked.push(`forks ${id}`);
      return metas.filter(({ parentId }) => parentId === id);
    },
  };
}

const idsOf = async (found: ReturnType<typeof readFamily>) =>
  (await found).members.map(({ id }) => id).toSorted();

describe("readFamily", () => {
  it("makes one request for a conversation without branches", async () => {
    const server = serverOf(meta("a"), meta("x"));
    expect(await idsOf(readFamily(meta("a"), server))).toEqual(["a"]);
    expect(server.asked).toEqual(["forks a"]);
  });

  it("finds ancestors, forks, forks of forks and cousins, from each of them", async () => {
    const all = [meta("a"), meta("b", "a"), meta("c", "b"), meta("d", "a"), meta("e", "d"), meta("x")];
    for (const from of all.slice(0, 5)) {
      expect(await idsOf(readFamily(from, serverOf(...all)))).toEqual(["a", "b", "c", "d", "e"]);
    }
  });

  it("reports which ancestor is deleted, and continues with the rest", async () => {
    const all = [meta("b", "a"), meta("c", "b"), meta("d", "a")] as const;
    const found = await readFamily(all[0], serverOf(...all));
    expect(found.members.map(({ id }) => id)).toEqual(["b", "c", "d"]);
    expect([...found.gone]).toEqual(["a"]);
  });

  it("ends on a cyclic chain, and in an endless family", async () => {
    const loop = [meta("a", "b"), meta("b", "a")] as const;
    expect(await idsOf(readFamily(loop[0], serverOf(...loop)))).toEqual(["a", "b"]);
    let made = 0;
    const endless = { meta: async () => undefined, forks: async (id: string) => [meta(`f${++made}`, id)] };
    expect((await readFamily(meta("a"), endless)).members.length).toBeLessThanOrEqual(201);
  });
});
