import { createManualClock, createMemoryLogStore } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { defaultServerPace } from "../limits/server-limits.js";
import { startTestServer } from "../test-server.test-support.js";
import { createKey } from "./api-key.js";
import { KeyRing } from "./key-ring.js";
import { createLogin } from "./login.js";

const hour = 60 * 60_000;

async function ring() {
  const clock = createManualClock();
  const { keys } = createMemoryLogStore({ clock });
  const { record: key } = createKey({ owner: "ann", createdAt: clock.now() });
  await keys.add(key);
  const made = createLogin({
    keyId: key.id,
    owner: "ann",
    now: clock.now(),
    holdsMs: defaultServerPace.loginMs,
  });
  await keys.addLogin(made.record);
  return { clock, keys, key, login: made.record, ring: new KeyRing(keys, clock, defaultServerPace) };
}

describe("the keys and logins of open connections", () => {
  it("are found to be gone when they were removed, all in one look", async () => {
    const { keys, key, login, ring: found } = await ring();
    const query = { keys: [key.hash, "unknown"], logins: [login.hash] };
    expect(await found.findGone(query)).toEqual({ keys: new Set(["unknown"]), logins: new Set() });
    await keys.remove(key.id);
    const gone = { keys: new Set([key.hash, "unknown"]), logins: new Set([login.hash]) };
    expect(await found.findGone(query)).toEqual(gone);
  });

  it("are in use as long as the connection is open, which is noted now and then", async () => {
    const { clock, keys, key, login, ring: found } = await ring();
    const query = { keys: [key.hash], logins: [login.hash] };
    const usedAt = async () => (await keys.find(key.hash))?.lastUsedAt;
    const expiresAt = async () => (await keys.findLogin(login.hash, clock.now()))?.login.expiresAt;
    await found.findGone(query);
    clock.jump(hour / 2);
    await found.findGone(query);
    expect([await usedAt(), await expiresAt()]).toEqual([undefined, login.expiresAt]);
    clock.jump(hour / 2);
    await found.findGone(query);
    await expect.poll(usedAt).toBe(clock.now());
    await expect.poll(expiresAt).toBe(clock.now() + defaultServerPace.loginMs);
  });

  it("are asked for once, however many there are", async () => {
    const clock = createManualClock();
    const server = await startTestServer({ auth: "keys", clock });
    for (const owner of ["ann", "bob", "cid"]) {
      const socket = await server.socket({ key: await server.key(owner) });
      await socket.next("catalog");
    }
    const count = (name: string) => server.faults.calls.filter(({ method }) => method === name).length;
    const before = { find: count("keys.find"), findGone: count("keys.findGone") };
    await clock.advance(3_000);
    expect(count("keys.find") - before.find).toBe(0);
    expect(count("keys.findGone") - before.findGone).toBe(1);
  });
});
