import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { keepPicture } from "./keep-picture.js";
import { type ServerProcess, slowDemo, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

let place: Workplace;
let server: ServerProcess;
const terminals: Terminal[] = [];

const open = (...args: readonly string[]) => {
  const terminal = new Terminal(place, ["chat", ...args]);
  terminals.push(terminal);
  return terminal;
};
const idle = /context \d+[^─]*Enter sends/;

beforeAll(async () => {
  place = new Workplace(slowDemo);
  server = await place.serve();
}, 120_000);
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
});
afterAll(() => place.remove());

describe("a chat in a terminal", { timeout: 60_000 }, () => {
  it("streams the answer as markdown, above a line that can be typed in meanwhile", async () => {
    const terminal = open();
    await terminal.see("Enter sends");
    terminal.type(`hello${keys.enter}`);
    await terminal.see("› hello");
    await terminal.see("I am the demo model");
    terminal.type("half a line");
    const text = await terminal.see(/ {2}• a long answer with headings[\s\S]*› half a line/);
    expect(text).not.toContain("**");
    expect(terminal.cursor().line).toBe("› half a line");
    await terminal.see(/─ \d[\d.]* s · /);
    expect(terminal.cursor()).toEqual({ line: "› half a line", column: 13 });
    expect(terminal.text().match(/› hello/g)).toHaveLength(1);
  });

  it("shows a tool while it works, queues with Enter and steers with Alt-Enter", async () => {
    const terminal = open();
    await terminal.see("Enter sends");
    terminal.type(`What is (3 + 4) * 12?${keys.enter}`);
    await terminal.see(/✓ calculator \{"expression":"\(3 \+ 4\) \* 12"\}/);
    await terminal.see(idle);
    terminal.type(`Use the slow tool, please${keys.enter}`);
    await terminal.see("Enter queues");
    await terminal.see(/demo_slow_task \{"steps":5\}[\s\S]*│ step 1 of 5 done/);
    terminal.type(`What time is it in Tokyo?${keys.enter}`);
    await terminal.see("⏎ next: What time is it in Tokyo?");
    terminal.type(`and keep it short${keys.altEnter}`);
    await terminal.see(/↪ steers: and keep it short[\s\S]*› \n/);
    await keepPicture(terminal);
    // The steer joins the running turn, the queued message opens the next one; each is shown once.
    const text = await terminal.see(/✓ current_time[\s\S]*context \d+[^─]*Enter sends/);
    expect(text).toMatch(
      /✓ demo_slow_task[\s\S]*↪ and keep it short[\s\S]*You steered me while I was at work[\s\S]*› What time is it in Tokyo\?/,
    );
    expect(text.match(/↪ and keep it short/g)).toHaveLength(1);
    expect(text.match(/› What time is it in Tokyo\?/g)).toHaveLength(1);
  });

  it("steers with an exclamation mark", async () => {
    const terminal = open();
    await terminal.see("Enter sends");
    terminal.type(`slow tool${keys.enter}`);
    await terminal.see("step 1 of 5 done");
    terminal.type(`!be brief${keys.enter}`);
    await terminal.see(/↪ be brief[\s\S]*You steered me while I was at work: "be brief"/);
  });

  it("stops the turn with Ctrl-C and keeps its output; twice leaves with 130", async () => {
    const terminal = open();
    await terminal.see("Enter sends");
    terminal.type(`a long answer please${keys.enter}`);
    await terminal.see("A long one");
    terminal.type(keys.ctrlC);
    await terminal.see(/─ stopped/);
    await terminal.see("Enter sends");
    // Another key in between, and the next Ctrl-C is a first one again.
    terminal.type("x");
    await terminal.see("› x");
    terminal.type(keys.backspace);
    await terminal.seeNoMore("› x");
    terminal.type(keys.ctrlC);
    await terminal.see("Ctrl-C once more leaves");
    terminal.type(keys.ctrlC);
    expect(await terminal.exited()).toBe(130);
    const [newest] = await place.json<{ id: string; status: string }[]>("ls", "-n", "1");
    expect(newest?.status).toBe("idle");
    expect(await place.ok(["show", newest?.id ?? ""])).toContain("A long one");
  });

  it("says that it reconnects when the server is killed, and continues by itself when it is back", async () => {
    const terminal = open();
    await terminal.see("Enter sends");
    terminal.type(`use the slow tool${keys.enter}`);
    await terminal.see("step 1 of 5 done");
    await server.end("SIGKILL");
    await terminal.see("Reconnecting");
    terminal.type("typed meanwhile");
    await terminal.see("› typed meanwhile");
    server = await place.serve(["--port", String(server.port)]);
    // The tool declares that it may be repeated, so the turn continues where it was.
    const text = await terminal.see(/✓ demo_slow_task[\s\S]*finished 5 steps[\s\S]*context \d+/, 60_000);
    await terminal.seeNoMore("Reconnecting");
    expect(text.match(/› use the slow tool/g)).toHaveLength(1);
    expect(text.match(/This takes a few seconds/g)).toHaveLength(1);
    expect(terminal.cursor().line).toBe("› typed meanwhile");
  }, 120_000);

  it("knows commands, completes them, and says what was meant", async () => {
    const terminal = open();
    await terminal.see("Enter sends");
    terminal.type(`/he${keys.tab}${keys.enter}`);
    await terminal.see(/\/compact \[keep\]/);
    terminal.type(`/tilte x${keys.enter}`);
    await terminal.see("Did you mean /title?");
    terminal.type(`hello${keys.enter}`);
    await terminal.see(idle);
    terminal.type(`/title A new title${keys.enter}`);
    await terminal.see('is now called "A new title"');
    terminal.type(`/metrics${keys.enter}`);
    await terminal.see("Tokens per turn");
    terminal.type(`/context${keys.enter}`);
    await terminal.see("└─ call 1");
    terminal.type(`/fork${keys.enter}`);
    await terminal.see("A fork at entry");
    terminal.type(`/export talk.md${keys.enter}`);
    await terminal.see("Exported 1 conversation to talk.md");
    expect(place.read("talk.md")).toContain("hello");
    terminal.type(`/quit${keys.enter}`);
    expect(await terminal.exited()).toBe(0);
  });

  it("deletes temporary conversations when it ends, and keeps what is to be kept", async () => {
    const listed = async () => {
      const response = await fetch(`${server.url}/conversations`);
      return ((await response.json()) as { conversations: { title: string }[] }).conversations.map(
        ({ title }) => title,
      );
    };
    const terminal = open("--temporary");
    await terminal.see("leaving deletes it. /keep keeps it.");
    terminal.type(`hello, kept one${keys.enter}`);
    await terminal.see(idle);
    expect(await listed()).not.toContain("hello, kept one");
    terminal.type(`/keep${keys.enter}`);
    await terminal.see("This conversation is kept.");
    terminal.type(`/new${keys.enter}`);
    terminal.type(`hello, lost one${keys.enter}`);
    await terminal.see(
      /› hello, lost one[\s\S]*I am the demo model[\s\S]*─ \d[\s\S]*Enter sends[\s\S]*temporary/,
    );
    terminal.type(`/fork${keys.enter}`);
    await terminal.see("A fork at entry");
    const forked = /A fork at entry \d+: (\S+)/.exec(terminal.text())?.[1] ?? "";
    expect((await fetch(`${server.url}/conversations/${forked}/meta`)).status).toBe(200);
    terminal.type(keys.ctrlD);
    expect(await terminal.exited()).toBe(0);
    expect((await fetch(`${server.url}/conversations/${forked}/meta`)).status).toBe(404);
    expect(await listed()).toContain("hello, kept one");
    const search = await fetch(`${server.url}/search?q=lost`);
    expect(await search.json()).toEqual({ hits: [] });
  });

  it("continues the newest conversation, and shows its messages", async () => {
    await place.ok(["run", "What is 6 * 7?"]);
    const terminal = open("-c");
    await terminal.see(/› What is 6 \* 7\?[\s\S]*calculator says/);
    terminal.type(keys.ctrlD);
    expect(await terminal.exited()).toBe(0);
  });

  it("stays whole when the terminal becomes narrow", async () => {
    const terminal = open();
    await terminal.see("Enter sends");
    terminal.type(`hello${keys.enter}`);
    await terminal.see("I am the demo model");
    terminal.resize(60, 24);
    terminal.type("still here");
    await terminal.see(idle);
    expect(terminal.cursor()).toEqual({ line: "› still here", column: 12 });
    expect(terminal.text().match(/› hello/g)).toHaveLength(1);
  });
});

describe("a chat with a model that is silent", { timeout: 60_000 }, () => {
  it("says how long it has been waiting, and then which limit passed", async () => {
    const vendor = createServer(() => {}).listen(0, "127.0.0.1");
    await once(vendor, "listening");
    const { port } = vendor.address() as AddressInfo;
    const quiet = new Workplace({
      store: { folder: ".parley", durable: false },
      models: { silent: { kind: "compatible", baseUrl: `http://127.0.0.1:${port}/v1`, models: ["m"] } },
      limits: { firstContentMs: 6_000 },
    });
    try {
      const terminal = new Terminal(quiet, ["chat"]);
      terminals.push(terminal);
      await terminal.see("Enter sends");
      terminal.type(`hello${keys.enter}`);
      await terminal.see(/Waiting for the model · [3-6]/);
      await terminal.see("limits.firstContentMs");
      expect(terminal.text()).not.toContain("Waiting for the model");
    } finally {
      for (const terminal of terminals.splice(0)) terminal.close();
      vendor.close();
      vendor.closeAllConnections();
      await quiet.remove();
    }
  });
});
