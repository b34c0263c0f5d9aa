import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@parley/core";
import { afterAll, describe, expect, it } from "vitest";
import { Workplace } from "../test/cli/parley-process.js";
import { describeOnPostgres } from "../test/harness/postgres.js";
import { Random } from "../test/kill/random.js";
import { tablesIn } from "../test/kill/tables.js";
import { long, recordResult, seed } from "./record-result.js";
import { attackApprovals } from "./security/approvals.js";
import { lookEverywhere } from "./security/careless-shards.js";
import { huntOnCommandLine } from "./security/command-line.js";
import { attackConnections, huntStoredSecrets } from "./security/connections.js";
import { openEvilProvider } from "./security/evil-provider.js";
import { attackFaces } from "./security/faces.js";
import { huntInFailures } from "./security/failing-runtime.js";
import { layOut } from "./security/file-paths.js";
import { attackWithNarrowKeys, attackWithWrongKeys, examineTable, guessKeys } from "./security/keys.js";
import { collectSpans, huntLeaks, indiscreetTool } from "./security/leaks.js";
import { Area } from "./security/ledger.js";
import { chatter, passLimits, passRates, tightLimits } from "./security/limits.js";
import { attackWithLogins, examineCookie, floodLogins, forgetful } from "./security/logins.js";
import { attackOldPlace } from "./security/old-place.js";
import { attackByHttp, moveIn } from "./security/owners.js";
import {
  attackByListening,
  attackFromElsewhere,
  attackThroughProxy,
  foreignHosts,
  foreignOrigins,
  knownHost,
  knownOrigin,
} from "./security/places.js";
import { Secrets } from "./security/secrets.js";
import { attackBySocket } from "./security/sockets.js";
import { attackStoredFiles } from "./security/stored-files.js";
import { openTarget } from "./security/target.js";
import { attackByRedirects, attackLoginFlows, attackTokens } from "./security/tool-logins.js";
import { attackFiles, attackHttp, raceFiles } from "./security/tools.js";

const random = new Random(seed);
const startedAt = performance.now();
const base = mkdtempSync(join(tmpdir(), "parley-security-"));
const areas: Area[] = [];
/** Findings of each area on a server that was weakened on purpose: none would mean that it detects nothing. */
const noticed = new Map<string, number>();
let planted = 0;

function area(name: string): Area {
  const made = new Area(name);
  areas.push(made);
  return made;
}

function newSecrets(): Secrets {
  return new Secrets(random);
}

describe("nothing gets in, and nothing gets out", () => {
  it("between owners, over every route and every message, and past every kind of key", async () => {
    // A new store, created once for all that need one.
    const place = new Workplace();
    const folder = place.store;
    const secrets = newSecrets();
    const keys: string[] = [];
    const target = await openTarget({ folder });
    try {
      const house = await moveIn(target, "ann", secrets);
      const own = "bob-own";
      await target.runtime.forOwner("bob").create({ id: own, title: "mine" });
      const overHttp = area("another owner's conversations, by route");
      const overSocket = area("another owner's conversations, by socket");
      const overFaces = area("another owner's conversations, by the faces of other protocols");
      for (const scopes of [["read", "write"], ["read"]] as const) {
        const thief = { key: await target.key("bob", scopes), ownConversation: own };
        if (scopes.length === 2) await attackByHttp(target, house, thief, overHttp, secrets);
        if (scopes.length === 2) await attackBySocket(target, house, thief, overSocket, secrets);
        if (scopes.length === 2) await attackFaces(target, house, thief, overFaces, secrets);
        keys.push(thief.key);
      }
      keys.push(house.key);
      const ofKeys = area("wrong, revoked, misplaced and narrow keys; the cookie");
      await attackWithWrongKeys(target, ofKeys, secrets);
      await attackWithNarrowKeys(target, ofKeys);
      await examineCookie(target, ofKeys, secrets);
      await attackWithLogins(
        target,
        area("logins: after logging out, after their key, in a key's place"),
        secrets,
      );
      ofKeys.searched("the log", secrets.findIn(target.logs.join("")));
    } finally {
      await target.close();
    }
    const atRest = area("keys at rest");
    const [rows = []] = await tablesIn(folder)(["SELECT * FROM parley.api_key"]);
    examineTable(rows, keys, atRest, secrets);
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = readFileSync(join(file.parentPath, file.name));
      atRest.searched(`the file ${file.name}`, secrets.findIn(bytes, ["a Parley key"]));
    }
    await place.remove();
    planted += secrets.count;
  });

  describeOnPostgres(
    "between owners on shards",
    (postgres) => {
      it("whether they are in one shard, in two of one server, or on two servers", async () => {
        const databases = [await postgres.createDatabase(), await postgres.createDatabase()];
        const [first = "", second = ""] = databases.map(({ url }) => url);
        const secrets = newSecrets();
        const shards = [
          { name: "a", url: first },
          { name: "b", url: first, schema: "parley_b" },
          { name: "c", url: second },
        ];
        const name = "another owner's conversations, across shards";
        const oldPlace = "an owner that has moved, in its old place";
        try {
          const target = await openTarget({ shards });
          try {
            const house = await moveIn(target, "ann", secrets);
            const overShards = area(name);
            // As many as it takes to have some in each shard: which ones is decided by a hash.
            for (const thiefName of ["bob", "bea", "bert", "babs", "brad", "beth"]) {
              const own = `${thiefName}-own`;
              await target.runtime.forOwner(thiefName).create({ id: own, title: "mine" });
              const thief = { key: await target.key(thiefName), ownConversation: own };
              await attackByHttp(target, house, thief, overShards, secrets);
            }
            overShards.searched("the log", secrets.findIn(target.logs.join("")));
          } finally {
            await target.close();
          }
          const careless = await openTarget({ shards, weakenShards: lookEverywhere });
          try {
            const house = await moveIn(careless, "amy", secrets);
            await careless.runtime.forOwner("bill").create({ id: "bill-own", title: "mine" });
            const thief = { key: await careless.key("bill"), ownConversation: "bill-own" };
            const weak = new Area("weak");
            await attackByHttp(careless, { ...house, ids: house.ids.slice(0, 2) }, thief, weak, secrets);
            noticed.set(name, weak.accepted.length + weak.leaks.length);
          } finally {
            await careless.close();
          }
          await attackOldPlace(area(oldPlace), shards, true);
          const weak = new Area("weak");
          await attackOldPlace(weak, shards, false);
          noticed.set(oldPlace, weak.accepted.length);
        } finally {
          await Promise.all(databases.map((database) => database.drop()));
        }
        planted += secrets.count;
      });
    },
    "preferred",
  );

  it("by guessing, from other pages, by other names, or past a limit", async () => {
    await guessKeys(area("guessing keys"), false);
    await floodLogins(area("a flood of wrong logins"), false);
    const places = area("Host, Origin, rebound names and cross-site sockets");
    const names = { hosts: [knownHost], origins: [knownOrigin] };
    const anyones = await openTarget({ serve: { auth: "open", ...names } });
    try {
      await attackFromElsewhere(anyones, places);
    } finally {
      await anyones.close();
    }
    const open = await openTarget({ serve: { auth: "auto", ...names } });
    try {
      await attackThroughProxy(open, places);
      await attackByListening(open, area("listening beyond this machine without keys"));
    } finally {
      await open.close();
    }
    const limits = area("limits");
    const tight = await openTarget({
      serve: { limits: tightLimits.server },
      limits: tightLimits.runtime,
      tools: [chatter as Tool<never>],
    });
    try {
      await passLimits(tight, limits);
    } finally {
      await tight.close();
    }
    await passRates(limits, false);
  });

  it("by way of files, and to the files of others", async () => {
    const secrets = newSecrets();
    const name = "files: other owners, hashes, signed addresses, what browsers run";
    await attackStoredFiles(area(name), secrets, false);
    const weak = new Area("weak");
    await attackStoredFiles(weak, secrets, true);
    noticed.set(name, weak.accepted.length);
    planted += secrets.count;
  });

  it("by way of connections to providers, and to their keys", async () => {
    const secrets = newSecrets();
    for (const [name, attack] of [
      ["connections: addresses inside, redirects, narrow keys", attackConnections],
      ["providers' keys at rest, in answers, logs and exports", huntStoredSecrets],
    ] as const) {
      await attack(area(name), secrets, false);
      const weak = new Area("weak");
      await attack(weak, secrets, true);
      noticed.set(name, weak.accepted.length + weak.leaks.length);
    }
    planted += secrets.count;
  });

  it("past the people who have to decide", async () => {
    const secrets = newSecrets();
    await attackApprovals(area("approvals: other owners, narrow keys, other bytes"), secrets, false);
    planted += secrets.count;
  });

  it("by way of the tools that a model is given", async () => {
    const secrets = newSecrets();
    const folder = await layOut(mkdtempSync(join(base, "files-")), secrets.make("a file"));
    const count = long ? 4_000 : 400;
    try {
      const files = area("file tools: paths out of the folder");
      await attackFiles(folder, { root: folder.root, random, count }, files, secrets);
      await raceFiles(folder, long ? 20_000 : 3_000, files, secrets);
      // Shared one level too high: what was outside is inside now.
      const weak = new Area("weak");
      await attackFiles(folder, { root: folder.base, from: "shared/", random, count: 0 }, weak, secrets);
      noticed.set("file tools: paths out of the folder", weak.accepted.length);
    } finally {
      await folder.close();
    }
    const http = area("http_get: private addresses, redirects, rebound names");
    await attackHttp(http, secrets, false);
    const weak = new Area("weak");
    await attackHttp(weak, secrets, true);
    noticed.set("http_get: private addresses, redirects, rebound names", weak.accepted.length);
    planted += secrets.count;
  });

  it("by way of servers of tools that owners log in at", async () => {
    const attacks = [
      ["servers of tools: one owner's tokens for another", attackTokens],
      ["servers of tools: confused deputy, logins begun by others", attackLoginFlows],
      ["servers of tools: headers along with redirects", attackByRedirects],
    ] as const;
    for (const [name, attack] of attacks) {
      await attack(area(name), false);
      const weak = new Area("weak");
      await attack(weak, true);
      noticed.set(name, weak.accepted.length);
    }
  });

  it("through logs, refusals, events, figures, traces, exports or the command line", async () => {
    const secrets = newSecrets();
    const evil = await openEvilProvider(secrets);
    const spans = collectSpans();
    const leaks = area("secrets in logs, refusals, events, figures, traces and exports");
    try {
      const target = await openTarget({
        models: evil.models,
        tools: [indiscreetTool(secrets) as Tool<never>],
        instructions: secrets.make("instructions"),
      });
      try {
        await huntLeaks(target, evil, { spans, random }, leaks, secrets);
      } finally {
        await target.close();
      }
      await huntInFailures(leaks, secrets);
      await huntOnCommandLine(evil, area("secrets in what the command line prints"), secrets);
    } finally {
      spans.close();
      await evil.close();
    }
    planted += secrets.count;
  });

  it("and each of these attacks notices a server that was weakened on purpose", async () => {
    await weaken();
    for (const { name } of areas) {
      if (noticed.has(name)) expect([name, noticed.get(name)]).not.toEqual([name, 0]);
    }
  });
});

/**
 * Runs the same attacks where they must succeed: as the owner, on an open server, without limits, with a talkative
 * hook.
 */
async function weaken(): Promise<void> {
  const secrets = newSecrets();
  const target = await openTarget();
  try {
    const house = await moveIn(target, "ann", secrets);
    const insider = { key: house.key, ownConversation: "ann-idle" };
    const overSocket = new Area("weak");
    const fewer = { ...house, ids: house.ids.slice(0, 2) };
    await attackBySocket(target, fewer, { ...insider, patienceMs: 300 }, overSocket, secrets);
    noticed.set("another owner's conversations, by socket", overSocket.accepted.length);
  } finally {
    await target.close();
  }
  // A house of its own: an insider's removals leave nothing of the first one.
  const another = await openTarget();
  try {
    const house = await moveIn(another, "ann", secrets);
    const insider = { key: house.key, ownConversation: "ann-idle" };
    const overHttp = new Area("weak");
    await attackByHttp(another, { ...house, ids: house.ids.slice(0, 2) }, insider, overHttp, secrets);
    noticed.set("another owner's conversations, by route", overHttp.accepted.length + overHttp.leaks.length);
  } finally {
    await another.close();
  }

  const third = await openTarget();
  try {
    const house = await moveIn(third, "ann", secrets);
    const overFaces = new Area("weak");
    const insider = { key: house.key, ownConversation: "ann-idle" };
    await attackFaces(third, { ...house, ids: house.ids.slice(0, 2) }, insider, overFaces, secrets);
    noticed.set(
      "another owner's conversations, by the faces of other protocols",
      overFaces.accepted.length + overFaces.leaks.length,
    );
  } finally {
    await third.close();
  }

  const approvals = new Area("weak");
  await attackApprovals(approvals, secrets, true);
  noticed.set("approvals: other owners, narrow keys, other bytes", approvals.accepted.length);

  const open = await openTarget({ serve: { auth: "open", owner: "keyholder" } });
  try {
    const keys = new Area("weak");
    await attackWithWrongKeys(open, keys, secrets);
    noticed.set("wrong, revoked, misplaced and narrow keys; the cookie", keys.accepted.length);
  } finally {
    await open.close();
  }
  const lasting = await openTarget({ keys: forgetful });
  try {
    const logins = new Area("weak");
    await attackWithLogins(lasting, logins, secrets);
    noticed.set("logins: after logging out, after their key, in a key's place", logins.accepted.length);
  } finally {
    await lasting.close();
  }
  const flood = new Area("weak");
  await floodLogins(flood, true);
  noticed.set("a flood of wrong logins", flood.accepted.length);
  const guessing = new Area("weak");
  await guessKeys(guessing, true);
  noticed.set("guessing keys", guessing.accepted.length);

  const hosts = foreignHosts.filter((host) => !/[@ /]/.test(host) && host !== "-");
  const origins = foreignOrigins.filter((origin) => /^https?:/.test(origin));
  const known = await openTarget({ serve: { auth: "open", hosts, origins } });
  try {
    const places = new Area("weak");
    await attackFromElsewhere(known, places);
    noticed.set("Host, Origin, rebound names and cross-site sockets", places.accepted.length);
  } finally {
    await known.close();
  }

  const loose = await openTarget({ tools: [chatter as Tool<never>] });
  try {
    const limits = new Area("weak");
    await passLimits(loose, limits);
    await passRates(limits, true);
    noticed.set("limits", limits.accepted.length);
  } finally {
    await loose.close();
  }

  const evil = await openEvilProvider(secrets);
  const spans = collectSpans();
  try {
    const talkative = await openTarget({
      models: evil.models,
      tools: [indiscreetTool(secrets) as Tool<never>],
      onEvent: (event, log) => log({ event }),
    });
    try {
      const leaks = new Area("weak");
      await huntLeaks(talkative, evil, { spans, random }, leaks, secrets);
      noticed.set(
        "secrets in logs, refusals, events, figures, traces and exports",
        leaks.leaks.filter((line) => line.includes("the log")).length,
      );
    } finally {
      await talkative.close();
    }
  } finally {
    spans.close();
    await evil.close();
  }
  // An area that cannot be weakened: the search itself is shown to find a known secret.
  const key = secrets.make("a Parley key", "a key in the open");
  const shown = [
    key,
    key.slice(15),
    Buffer.from(key).toString("hex"),
    Buffer.from(`{"k":"${key}"}`).toString("base64"),
  ];
  const found = shown.filter((text) =>
    secrets.findIn(`before ${text} after`).includes("a key in the open"),
  ).length;
  for (const name of ["keys at rest", "secrets in what the command line prints"]) {
    noticed.set(name, found === shown.length ? found : 0);
  }
}

afterAll(() => {
  rmSync(base, { recursive: true, force: true });
  const sum = (pick: (area: Area) => number) => areas.reduce((total, each) => total + pick(each), 0);
  const verdict = (bad: number, line: string) => `${bad === 0 ? "PASS" : "MISS"}  ${line}`;
  const accepted = sum((each) => each.accepted.length);
  const leaks = sum((each) => each.leaks.length);
  const broken = sum((each) => each.brokenControls.length);
  const blind = [...noticed].filter(([, count]) => count === 0).map(([name]) => name);
  const findings = areas.flatMap((each) => each.findings);
  recordResult({
    title: "Security",
    about:
      "A real server is attacked over HTTP, event streams and sockets, the tools through turns of a scripted model, the command line as a " +
      "process; providers are a local one that repeats all it is sent. An attempt counts as accepted when it is not refused as it has to " +
      "be: another owner's id, for one, must get the very answer that an id gets which does not exist, to the byte. Every answer, header, push, log line, trace " +
      "and file is searched for secrets that were planted, whole, cut, in hex and in base64. Then the same attacks are made where they must " +
      `succeed, and have to notice it. Seed ${seed}, ${Math.round((performance.now() - startedAt) / 1_000)} seconds.`,
    tables: [
      {
        columns: [
          "area",
          "attempts",
          "accepted",
          "texts searched",
          "leaks",
          "honest calls",
          "noticed when weakened",
        ],
        rows: areas.map((each) => [
          each.name,
          each.attempts,
          each.accepted.length,
          each.texts,
          each.leaks.length,
          each.controls,
          noticed.get(each.name) ?? "-",
        ]),
      },
    ],
    statements: [
      verdict(accepted, `${accepted} of ${sum((each) => each.attempts)} attempts accepted (0)`),
      verdict(
        leaks,
        `${leaks} leaks of ${planted} planted secrets in ${sum((each) => each.texts)} texts (0)`,
      ),
      verdict(broken, `${broken} of ${sum((each) => each.controls)} honest calls refused (0)`),
      verdict(
        blind.length,
        `${noticed.size - blind.length} of ${noticed.size} areas noticed what was weakened on purpose (all)`,
      ),
      ...findings.slice(0, 20),
    ],
  });
  expect(findings).toEqual([]);
  expect(blind).toEqual([]);
});
