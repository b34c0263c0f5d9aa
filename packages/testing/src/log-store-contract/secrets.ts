import type { LogStoreRoot, SecretChange, SecretName } from "@parley/core/ports";
import { check, checkEqual } from "../contract-case.js";
import { refused, type Scenario, type TopicCase, uniqueId } from "./scenario.js";

function named(s: Scenario, given: Partial<SecretName> = {}): SecretName {
  return { owner: s.owner, kind: "token", name: `secret ${uniqueId()}`, ...given };
}

/** Stores a value that has to be accepted, and returns its version. */
async function put(root: LogStoreRoot, name: SecretName, given: Partial<SecretChange> = {}): Promise<string> {
  const version = await root.secrets.put({ ...name, sealed: "sealed", facts: {}, replaces: null, ...given });
  check(version !== null, "the value was refused");
  return version;
}

/** Makes many calls for one hold, and returns the holders that got it. */
async function heldBy(roots: readonly LogStoreRoot[], name: SecretName): Promise<string[]> {
  const holders = roots.map((_, index) => `holder ${index} ${uniqueId()}`);
  const waits = await Promise.all(
    roots.map((root, index) => root.secrets.hold({ ...name, holder: holders[index] ?? "", leaseMs: 60_000 })),
  );
  return holders.filter((_, index) => waits[index] === 0);
}

/** Cases of encrypted values: kept for all nodes, replaced by version, with one process at work for each. */
export const secretCases: readonly TopicCase[] = [
  {
    name: "a secret is read on every node as it was put, and listed without its value",
    async run(s) {
      const name = named(s, { owner: `${s.owner}\u0000\ud800 '`, name: "\ufeffname '" });
      const facts = { url: "https://example.test/\u0000", scopes: ["a"], expiresAt: 1.5, none: null };
      const version = await put(s.root, name, { sealed: "v1.\u0000\ud800", facts });
      const { sealed, ...record } = (await s.second.secrets.get(name)) ?? { sealed: "" };
      checkEqual(sealed, "v1.\u0000\ud800", "the value");
      checkEqual(
        { ...record, createdAt: 0, changedAt: 0 },
        { ...name, facts, version, createdAt: 0, changedAt: 0 },
        "the rest",
      );
      const listed = await s.second.secrets.list({ owner: name.owner ?? "", kind: "token" });
      checkEqual(listed, [record], "the list");
      checkEqual(await s.root.secrets.get(named(s)), null, "an unknown one");
      await s.root.secrets.remove(name);
      checkEqual(await s.second.secrets.get(name), null, "a removed one");
    },
  },
  {
    name: "the same name is another secret for another owner, another kind, and the installation",
    async run(s) {
      const name = named(s);
      const { owner: _, ...own } = name;
      const names = [own, name, { ...name, owner: `${s.owner}-2` }, { ...name, kind: "other" }];
      for (const [index, each] of names.entries()) await put(s.root, each, { sealed: `value ${index}` });
      const read = await Promise.all(names.map((each) => s.second.secrets.get(each)));
      checkEqual(
        read.map((each) => each?.sealed),
        ["value 0", "value 1", "value 2", "value 3"],
        "the values",
      );
      checkEqual(
        read.map((each) => each?.owner),
        [undefined, s.owner, `${s.owner}-2`, s.owner],
        "the owners",
      );
      const listed = await s.root.secrets.list({ owner: s.owner, kind: "token" });
      checkEqual(
        listed.map((each) => [each.owner, each.kind]),
        [[s.owner, "token"]],
        "the list of an owner",
      );
      await refused(s.root.secrets.get({ ...name, owner: "" }), "invalid_request", "an empty owner");
      for (const each of names) checkEqual(await s.root.secrets.remove(each), true, "removed");
      checkEqual(await s.root.secrets.remove(name), false, "removed again");
    },
  },
  {
    name: "a value replaces the version that its writer has seen, and no other",
    twoHandles: true,
    async run(s) {
      const name = named(s);
      const [first, again] = await Promise.all(
        [s.root, s.second].map((root) =>
          root.secrets.put({ ...name, sealed: "1", facts: {}, replaces: null }),
        ),
      );
      check((first === null) !== (again === null), "one of two that add it succeeds");
      const version = first ?? again ?? "";
      const change = { ...name, sealed: "2", facts: { n: 2 }, replaces: version };
      const changed = await Promise.all([s.root, s.second].map((root) => root.secrets.put(change)));
      check(changed.filter((each) => each !== null).length === 1, "one of two that replace it succeeds");
      const read = await s.root.secrets.get(name);
      checkEqual([read?.sealed, read?.facts], ["2", { n: 2 }], "the new value");
      checkEqual(await s.second.secrets.remove(name, version), false, "removing an older version");
      checkEqual(await s.second.secrets.remove(name, read?.version), true, "removing the version in force");
      await put(s.root, name, { sealed: "3" });
      checkEqual(await s.second.secrets.put(change), null, "a version from before it was removed");
      checkEqual((await s.second.secrets.get(name))?.sealed, "3", "the value in force");
      await s.root.secrets.remove(name);
    },
  },
  {
    name: "a secret is renamed in one step, and never over another one",
    twoHandles: true,
    async run(s) {
      const [name, taken] = [named(s), named(s)];
      const version = await put(s.root, name, { sealed: "old" });
      await put(s.root, taken, { sealed: "taken" });
      const change = { ...name, sealed: "new", facts: {}, replaces: version };
      checkEqual(await s.second.secrets.put({ ...change, newName: taken.name }), null, "a taken name");
      checkEqual((await s.root.secrets.get(name))?.version, version, "the secret afterwards");
      const created = (await s.root.secrets.get(name))?.createdAt;
      const newName = `renamed ${uniqueId()}`;
      const results = await Promise.all(
        [s.root, s.second].map((root) => root.secrets.put({ ...change, newName })),
      );
      check(results.filter((each) => each !== null).length === 1, "one of two that rename it succeeds");
      checkEqual(await s.root.secrets.get(name), null, "the old name");
      const renamed = await s.second.secrets.get({ ...name, name: newName });
      checkEqual([renamed?.sealed, renamed?.createdAt], ["new", created], "the new name");
      for (const each of [{ ...name, name: newName }, taken]) await s.root.secrets.remove(each);
    },
  },
  {
    name: "secrets of everybody are paged through in order",
    async run(s) {
      const names = ["a", "b", "c"].map((name) => named(s, { name }));
      for (const each of names) await put(s.root, each, { sealed: each.name });
      const found: string[] = [];
      for (let after: SecretName | undefined; ; ) {
        const page = await s.second.secrets.page({ limit: 2, ...(after === undefined ? {} : { after }) });
        check(page.length <= 2, "a page is no longer than the limit");
        found.push(...page.filter(({ owner }) => owner === s.owner).map(({ sealed }) => sealed));
        after = page.at(-1);
        if (after === undefined) break;
      }
      checkEqual(found, ["a", "b", "c"], "the secrets of one owner");
      for (const each of names) await s.root.secrets.remove(each);
    },
  },
  {
    name: "one of many holds a name, until it gives it back or its time is over",
    twoHandles: true,
    async run(s) {
      const name = named(s);
      const roots = [s.root, s.second, s.root, s.second];
      const [holder = "", ...others] = await heldBy(roots, name);
      check(holder !== "" && others.length === 0, "exactly one holds it");
      const wait = await s.second.secrets.hold({ ...name, holder: "another", leaseMs: 60_000 });
      check(wait > 0 && wait <= 60_000, "the others learn how long it may take");
      checkEqual(
        await s.root.secrets.hold({ ...name, holder, leaseMs: 60_000 }),
        0,
        "the holder itself again",
      );
      checkEqual((await heldBy([s.root], named(s))).length, 1, "another name");
      await s.second.secrets.release({ ...name, holder: "another" });
      checkEqual(await heldBy(roots, name), [], "after another's release");
      await s.second.secrets.release({ ...name, holder });
      checkEqual(
        await s.root.secrets.hold({ ...name, holder: "short", leaseMs: 20 }),
        0,
        "after its release",
      );
      await s.advance(60);
      checkEqual((await heldBy(roots, name)).length, 1, "after its time");
    },
  },
];
