import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slowDemo, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

describe("the server as a process", { timeout: 120_000 }, () => {
  let place: Workplace;
  beforeAll(() => {
    place = new Workplace(slowDemo);
  });
  afterAll(() => place.remove());

  it("announces itself to other calls, lets a turn finish its step when it is asked to end, and goes on with the next start", async () => {
    const first = await place.serve();
    expect(JSON.parse(place.read(".parley/server.json"))).toMatchObject({ url: first.url, pid: first.pid });
    const follower = place.start(["run", "--jsonl", "use the slow tool"]);
    follower.stdin?.end();
    let events = "";
    follower.stdout?.setEncoding("utf8").on("data", (text: string) => {
      events += text;
    });
    while (!events.includes("step 1 of 5 done")) await once(follower.stdout ?? follower, "data");
    const closed = once(follower, "close");
    expect(await first.end("SIGTERM")).toBe(0);
    expect(first.output().stderr).toContain("letting the running turns finish their step");
    expect(place.has(".parley/server.json")).toBe(false);

    const second = await place.serve(["--port", String(first.port)]);
    // The one who asked was cut off, asked again for the same turn, and has its end.
    await closed;
    expect(events).toContain('"type":"turn-sealed"');
    const [newest] = await place.json<{ id: string }[]>("ls");
    expect(await place.ok(["show", newest?.id ?? ""])).toContain("finished 5 steps");
    await second.end();
  });

  it("ends at once when it is asked a second time", async () => {
    const stuck = new Workplace({ models: { demo: { kind: "demo", pace: "instant", slowStepMs: 600_000 } } });
    try {
      const server = await stuck.serve();
      const asking = stuck.start(["run", "--jsonl", "slow"]);
      asking.stdin?.end();
      await once(asking.stdout ?? asking, "data");
      const draining = once(server.process.stderr ?? server.process, "data");
      server.process.kill("SIGTERM");
      await draining;
      expect(await server.end("SIGTERM")).toBe(143);
    } finally {
      await stuck.remove();
    }
  });

  it("is ignored when its announcement is all that is left of it", async () => {
    const server = await place.serve();
    await server.end("SIGKILL");
    expect(place.has(".parley/server.json")).toBe(true);
    const { code, stderr } = await place.parley(["ls"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("tells a person where it listens, on what and how to add a key, logs in words, and ends on Ctrl-C", async () => {
    const demo = new Workplace({});
    const shown = new Terminal(demo, ["serve", "--port", "0"]);
    try {
      const text = await shown.see("Ctrl-C ends the server");
      expect(text).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+/);
      expect(text).toMatch(/store +\.parley \(embedded\)/);
      expect(text).toMatch(/models +demo\/demo/);
      expect(text).toMatch(/set OPENAI_API_KEY/);
      await demo.ok(["ls"]);
      await shown.see(/200 GET \/conversations/);
      shown.type(keys.ctrlC);
      await shown.see("letting the running turns finish");
      expect(await shown.exited()).toBe(0);
    } finally {
      shown.close();
      await demo.remove();
    }
  });
});
