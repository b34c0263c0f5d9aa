import { createManualClock } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { defaultServerLimits, defaultServerPace } from "../limits/server-limits.js";
import { type Answer, problemOf, startTestServer, type TestServer } from "../test-server.test-support.js";
import { createKey } from "./api-key.js";
import { FailedLogins, networkOf } from "./failed-logins.js";

const { failedLogins: free } = defaultServerLimits;

function count() {
  const clock = createManualClock();
  return { clock, failures: new FailedLogins(defaultServerLimits, defaultServerPace, clock) };
}

describe("the count of wrong keys", () => {
  it("lets an address fail some times, then makes it wait twice as long each time, up to a bound", async () => {
    const { clock, failures } = count();
    for (let index = 0; index < free; index += 1) {
      expect(failures.failed("192.0.2.1")).toBe(false);
      expect(failures.waitOf("192.0.2.1")).toBe(0);
    }
    const waits: number[] = [];
    for (let index = 0; index < 9; index += 1) {
      expect(failures.failed("192.0.2.1")).toBe(index === 0);
      const wait = failures.waitOf("192.0.2.1");
      waits.push(wait / 1_000);
      await clock.advance(wait);
      expect(failures.waitOf("192.0.2.1")).toBe(0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(failures.waitOf("192.0.2.2")).toBe(0);
  });

  it("forgets an address that has not failed for a while", async () => {
    const { clock, failures } = count();
    for (let index = 0; index <= free; index += 1) failures.failed("192.0.2.1");
    await clock.advance(defaultServerPace.failedForgetMs);
    failures.failed("192.0.2.1");
    expect(failures.waitOf("192.0.2.1")).toBe(0);
  });

  it("holds a bounded number of addresses, the latest", () => {
    const { failures } = count();
    for (let index = 0; index <= free; index += 1) failures.failed("192.0.2.1");
    for (let index = 0; index < 20_000; index += 1) failures.failed(`10.${index >> 8}.${index & 255}.1`);
    expect(failures.size).toBe(10_000);
    expect(failures.waitOf("192.0.2.1")).toBe(0);
  });

  it("takes the addresses of one IPv6 network for one, and an IPv4 address however it is written", () => {
    expect(networkOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(networkOf("2001:db8:0:7::1")).toBe(networkOf("2001:0db8:0000:0007:ffff::2"));
    expect(networkOf("2001:db8:0:7::1")).not.toBe(networkOf("2001:db8:0:8::1"));
    expect(networkOf("::1")).toBe("0:0:0:0::/64");
    expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
    expect(networkOf("unknown")).toBe("unknown");
  });
});

describe("a flood of wrong keys", () => {
  const ways: Record<string, (server: TestServer, key: string) => Promise<Answer>> = {
    "at the login": (server, key) => server.call("POST", "/login", { body: { key } }),
    "in the header": (server, key) => server.call("GET", "/me", { key }),
  };

  it.each(Object.keys(ways))(
    "%s is answered with 429 after a few, unread, and locks no right key out",
    async (way) => {
      const server = await startTestServer({ auth: "keys", clock: createManualClock() });
      const attempt = ways[way] as (server: TestServer, key: string) => Promise<Answer>;
      const right = await server.key("ann");
      const statuses: number[] = [];
      for (let index = 0; index < 150; index += 1) {
        const answer = await attempt(server, createKey({ owner: "x" }).secret);
        statuses.push(answer.status);
        if (answer.status !== 429) continue;
        expect(problemOf(answer).code).toBe("rate_limited");
        expect(answer.headers.get("retry-after")).toBe("1");
      }
      expect(statuses.indexOf(429)).toBe(free + 1);
      expect(statuses.lastIndexOf(401)).toBe(free);
      const asked = () => server.faults.calls.filter(({ method }) => String(method) === "keys.find").length;
      expect(asked()).toBe(free + 1);
      // From the same address, before and after it was seen here.
      const login = await server.call("POST", "/login", { body: { key: right } });
      expect(login.status).toBe(200);
      expect((await server.call("GET", "/me", { key: right })).status).toBe(200);
      const cookie = login.headers.getSetCookie().at(-1)?.split(";")[0] ?? "";
      for (let index = 0; index < 100; index += 1) {
        expect((await server.call("GET", "/me", { headers: { cookie } })).status).toBe(200);
      }
    },
  );

  it("of cookies is answered with 429 after a few, too", async () => {
    const server = await startTestServer({ auth: "keys", clock: createManualClock() });
    await server.key("ann");
    const statuses = new Set<number>();
    for (let index = 0; index < 150; index += 1) {
      const cookie = `parley_login=pl_${createKey({ owner: "x" }).secret.slice(3)}`;
      statuses.add((await server.call("GET", "/me", { headers: { cookie } })).status);
    }
    expect([...statuses]).toEqual([401, 429]);
    const asked = server.faults.calls.filter(({ method }) => String(method) === "keys.findLogin").length;
    expect(asked).toBeLessThan(60);
  });

  it("does not begin with requests that bring no key", async () => {
    const server = await startTestServer({ auth: "keys", clock: createManualClock() });
    await server.key("ann");
    for (let index = 0; index < 3 * free; index += 1) {
      expect((await server.call("GET", "/me")).status).toBe(401);
    }
    expect((await server.call("GET", "/me", { key: createKey({ owner: "x" }).secret })).status).toBe(401);
  });
});
