import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { QueuePayload, StoredChunk } from "@parley/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, slowDemo, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

describe("the server as a process", { timeout: 120_000 }, () => {
  let place: Workplace;
  beforeAll(() => {
    place = new Workplace(slowDemo);
  });
  afterAll(() => place.remove());

  it("announces itself to other calls, lets a turn finish its step when it has to end, and continues with the next start", async () => {
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
    // The client that sent it was cut off, requested the same turn again, and has its end.
    await closed;
    expect(events).toContain('"type":"turn-sealed"');
    const [newest] = await place.json<{ id: string }[]>("ls");
    expect(await place.ok(["show", newest?.id ?? ""])).toContain("finished 5 steps");
    await second.end();
  });

  it("is ignored when its announcement is all that is left of it", async () => {
    const server = await place.serve();
    await server.end("SIGKILL");
    expect(place.has(".parley/server.json")).toBe(true);
    const { code, stderr } = await place.parley(["ls"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("takes a key that was recovered on its store after all others were lost", async () => {
    const server = await place.serve();
    const none = await place.parley(["keys", "recover"]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("There is no key in")]);
    await place.ok(["keys", "create"]);
    const without = await place.parley(["ls"]);
    expect([without.code, without.stderr]).toEqual([
      1,
      expect.stringContaining("Put the key into PARLEY_API_KEY"),
    ]);
    const recovered = (await place.ok(["keys", "recover"])).trim();
    const env = { PARLEY_API_KEY: recovered };
    await expect.poll(async () => (await place.parley(["keys", "ls"], { env })).code).toBe(0);
    expect(await place.ok(["keys", "ls"], { env })).toContain("read, write, approve, admin");
    const through = await place.parley(["keys", "recover", "--url", server.url]);
    expect([through.code, through.stderr]).toEqual([2, expect.stringContaining("on the store itself")]);
    for (const { id } of JSON.parse(await place.ok(["keys", "ls", "--json"], { env })) as { id: string }[]) {
      await place.parley(["keys", "rm", id], { env });
    }
    await server.end();
  });

  it("says that it listens beyond this machine", async () => {
    const args = ["--port", "0", "--host", "0.0.0.0", "--insecure"];
    const server = await place.serve(args);
    expect(server.output().stdout).toContain('"host":"0.0.0.0"');
    await server.end();
    const shown = new Terminal(place, ["serve", ...args]);
    try {
      expect(await shown.see("Ctrl-C ends the server")).toMatch(/host +0\.0\.0\.0: beyond this machine too/);
      shown.type(keys.ctrlC);
      expect(await shown.exited()).toBe(0);
    } finally {
      shown.close();
    }
  });

  it("prints where it listens, on what and how to add a key, logs in words, and ends on Ctrl-C", async () => {
    const demo = new Workplace({});
    const shown = new Terminal(demo, ["serve", "--port", "0"]);
    try {
      const text = await shown.see("Ctrl-C ends the server");
      expect(text).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+/);
      expect(text).toMatch(/store +\.parley \(embedded\)/);
      expect(text).toMatch(/models +demo\/demo/);
      expect(text).toMatch(/set OPENAI_API_KEY/);
      expect(text).toContain("In another terminal: parley chat.");
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

describe("a store that does not answer", { timeout: 120_000 }, () => {
  it.runIf(existsSync("/proc/self"))(
    "does not keep a server beyond the time that it announced for its end",
    async () => {
      const place = new Workplace();
      const frozen: number[] = [];
      try {
        const server = await place.serve(["--port", "0", "--drain", "1"]);
        const main = Number.parseInt(place.read(".parley/postgres/data/postmaster.pid"), 10);
        const children = readFileSync(`/proc/${main}/task/${main}/children`, "utf8")
          .trim()
          .split(" ")
          .map(Number);
        frozen.push(main, ...children);
        for (const pid of frozen) process.kill(pid, "SIGSTOP");
        const sent = place.parley(["send", "@", "never stored"], { env: { PARLEY_URL: server.url } });
        expect(await server.end("SIGTERM")).toBe(1);
        expect(server.output().stderr).toMatch(/up to 1 s, 6 s with everything[\s\S]*took longer than 6 s/);
        expect((await sent).code).not.toBe(0);
      } finally {
        for (const pid of frozen) process.kill(pid, "SIGCONT");
        await place.remove();
      }
    },
  );
});

describe("a turn that does not end by itself", { timeout: 120_000 }, () => {
  let place: Workplace;
  let server: ServerProcess;
  beforeAll(async () => {
    place = new Workplace({
      store: { folder: ".parley", durable: false },
      models: { demo: { kind: "demo", pace: "instant", slowStepMs: 600_000 } },
    });
    server = await place.serve();
  }, 60_000);
  afterAll(() => place.remove());

  /** Requests the tool that takes its time, and waits for the first words. */
  const ask = async () => {
    const asking = place.start(["run", "use the slow tool"]);
    asking.stdin?.end();
    let said = "";
    asking.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await once(asking.stdout ?? asking, "data");
    return { asking, said: () => said };
  };

  it("lets others queue, change and remove; an interrupt of run stops it and keeps its output", async () => {
    const { asking, said } = await ask();
    const refused = await place.parley(["send", "@", "now"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--queue") as unknown });
    expect(await place.json("queue", "add", "@", "second")).toMatchObject({ startedTurn: false });
    expect(await place.json("send", "@", "--steer", "first")).toMatchObject({ outcome: "queued" });
    const { messages } = await place.json<QueuePayload>("queue", "@");
    const [second = "", first = ""] = messages.map(({ id }) => id);
    const change = ["queue", "edit", "@", first, "--before", second, "--mode", "queue"];
    const moved = await place.json<QueuePayload>(...change);
    expect(moved.messages).toMatchObject([{ text: "first", mode: "queue" }, { text: "second" }]);
    expect((await place.json<QueuePayload>("queue", "rm", "@", first)).messages).toHaveLength(1);

    const closed = once(asking, "close");
    asking.kill("SIGINT");
    expect((await closed)[0]).toBe(130);
    const { chunks } = await place.json<{ chunks: StoredChunk[] }>("show", "@");
    const texts = chunks.flatMap(({ chunk }) => (chunk.type === "text" ? [chunk.text] : []));
    expect(texts).toContain(said().trimEnd());
    expect(await place.json<QueuePayload>("queue", "@")).toMatchObject({ paused: true });
  });

  it("does not keep a server that is signaled a second time", async () => {
    await ask();
    const draining = once(server.process.stderr ?? server.process, "data");
    server.process.kill("SIGTERM");
    await draining;
    expect(await server.end("SIGTERM")).toBe(143);
  });
});
