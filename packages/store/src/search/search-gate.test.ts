import { describe, expect, it } from "vitest";
import { SearchGate } from "./search-gate.js";

/** Starts searches that end on request, and records the order in which they began. */
function createSearches(gate: SearchGate) {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    began,
    end: (name: string) => ends.get(name)?.(),
    begin: (owner: string, name: string) =>
      gate.pass(owner, () => {
        began.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      }),
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("SearchGate", () => {
  it("lets a few run, fewer of one owner, and the next in order when one ends", async () => {
    const gate = new SearchGate({ atOnce: 3, perOwner: 2, waitMs: 60_000 });
    const searches = createSearches(gate);
    const all = ["a1", "a2", "a3", "a4", "b1", "c1"].map((name) => searches.begin(name.charAt(0), name));
    await settled();
    expect(searches.began).toEqual(["a1", "a2", "b1"]);
    searches.end("b1");
    await settled();
    // Two searches of a run already, so c comes first.
    expect(searches.began.slice(3)).toEqual(["c1"]);
    searches.end("a1");
    await settled();
    expect(searches.began.slice(4)).toEqual(["a3"]);
    for (const name of ["a2", "a3", "c1"]) searches.end(name);
    await settled();
    searches.end("a4");
    expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "b1", "c1"]);
  });

  it("turns away who has waited for too long", async () => {
    const gate = new SearchGate({ atOnce: 1, perOwner: 1, waitMs: 1 });
    const searches = createSearches(gate);
    const first = searches.begin("a", "first");
    expect(await searches.begin("b", "second")).toBeUndefined();
    searches.end("first");
    expect(await first).toBe("first");
    const third = searches.begin("b", "third");
    await settled();
    searches.end("third");
    expect(await third).toBe("third");
    expect(searches.began).toEqual(["first", "third"]);
  });

  it("lets the next search in when one fails", async () => {
    const gate = new SearchGate({ atOnce: 1, perOwner: 1, waitMs: 60_000 });
    const failed = gate.pass("a", () => Promise.reject(new Error("gone")));
    const next = gate.pass("a", async () => "next");
    await expect(failed).rejects.toThrow("gone");
    expect(await next).toBe("next");
  });
});
