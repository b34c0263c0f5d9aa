import { describe, expect, it } from "vitest";
import { type BranchMeta, branchNumbers, branchPoints, groupFamilies } from "./branches.js";

let clock = 0;
const root = (id: string): BranchMeta => ({ id, createdAt: ++clock });
const fork = (id: string, parentId: string, forkedAtSeq: number): BranchMeta => ({
  id,
  parentId,
  forkedAtSeq,
  createdAt: ++clock,
});

describe("branchPoints", () => {
  it("finds none in a conversation that was never forked", () => {
    expect(branchPoints([root("a"), root("b")], "a").size).toBe(0);
  });

  it("offers the parent and its forks at the place where they diverge, from either side", () => {
    const metas = [root("a"), fork("b", "a", 4), fork("c", "a", 4)];
    expect(branchPoints(metas, "a").get(4)).toEqual({ atSeq: 4, conversationIds: ["a", "b", "c"], index: 0 });
    expect(branchPoints(metas, "c").get(4)).toEqual({ atSeq: 4, conversationIds: ["a", "b", "c"], index: 2 });
  });

  it("counts a fork of a fork at the same place as one more branch", () => {
    const metas = [root("a"), fork("b", "a", 4), fork("c", "b", 4)];
    expect(branchPoints(metas, "c").get(4)).toEqual({ atSeq: 4, conversationIds: ["a", "b", "c"], index: 2 });
    expect(branchPoints(metas, "a").get(4)?.conversationIds).toEqual(["a", "b", "c"]);
  });

  it("shows in a later fork the branch that it follows at an earlier place", () => {
    const metas = [root("a"), fork("b", "a", 4), fork("c", "b", 10)];
    const points = branchPoints(metas, "c");
    expect(points.get(4)).toEqual({ atSeq: 4, conversationIds: ["a", "b"], index: 1 });
    expect(points.get(10)).toEqual({ atSeq: 10, conversationIds: ["b", "c"], index: 1 });
  });

  it("leaves out places that only another branch has", () => {
    const metas = [root("a"), fork("b", "a", 4), fork("c", "b", 10)];
    expect([...branchPoints(metas, "a").keys()]).toEqual([4]);
  });

  it("still offers the siblings of a fork whose parent is not known", () => {
    const metas = [fork("b", "gone", 4), fork("c", "gone", 4)];
    expect(branchPoints(metas, "b").get(4)?.conversationIds).toEqual(["gone", "b", "c"]);
  });

  it("offers no deleted conversation", () => {
    const metas = [fork("b", "gone", 4), fork("c", "gone", 4)];
    expect(branchPoints(metas, "c", new Set(["gone"])).get(4)).toEqual({
      atSeq: 4,
      conversationIds: ["b", "c"],
      index: 1,
    });
    expect(branchPoints(metas.slice(1), "c", new Set(["gone"])).size).toBe(0);
  });

  it("handles forks from the very start", () => {
    const metas = [root("a"), fork("b", "a", 0)];
    expect(branchPoints(metas, "b").get(0)).toEqual({ atSeq: 0, conversationIds: ["a", "b"], index: 1 });
  });

  it("does not hang on a cyclic chain", () => {
    expect(() => branchPoints([fork("a", "b", 1), fork("b", "a", 1)], "a")).not.toThrow();
  });
});

describe("groupFamilies", () => {
  it("makes one entry of a conversation and its forks, at the place of the newest of them", () => {
    const metas = [fork("c", "b", 10), root("x"), root("a"), fork("b", "a", 4)];
    const families = groupFamilies(metas);
    expect(families.map(({ shown }) => shown.id)).toEqual(["c", "x"]);
    expect(families[0]?.members.map(({ id }) => id)).toEqual(["c", "a", "b"]);
  });

  it("keeps forks of an unknown parent together", () => {
    expect(groupFamilies([fork("b", "gone", 4), fork("c", "gone", 4)])).toHaveLength(1);
  });
});

describe("branchNumbers", () => {
  it("counts the members of a family by age, and leaves out single conversations", () => {
    const [a, x] = [root("a"), root("x")];
    const numbers = branchNumbers([fork("b", "a", 4), x, fork("c", "b", 10), a]);
    expect([...numbers].toSorted()).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ]);
  });
});
