import type { ConversationMeta } from "@parley/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Upstream } from "../page/upstream.js";
import { type ServerProcess, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

let first: Upstream;
let second: Upstream;
let place: Workplace;
let server: ServerProcess;
const terminals: Terminal[] = [];

/** Number of requests that each vendor got since the test began: the default one, and the other. */
const asked = () => [first.requests.length - before[0], second.requests.length - before[1]];
let before: readonly [number, number] = [0, 0];

const chat = (...args: readonly string[]) => {
  const terminal = new Terminal(place, ["chat", ...args], { cols: 120, rows: 30 });
  terminals.push(terminal);
  return terminal;
};

beforeAll(async () => {
  const answers = () => [{ text: "An answer." }];
  [first, second] = await Promise.all([Upstream.start(answers), Upstream.start(answers)]);
  place = new Workplace({
    store: { folder: ".parley", durable: false },
    titleModel: "none",
    defaultModel: "first/example",
    models: { first: first.credential, second: second.credential },
  });
  server = await place.serve();
}, 120_000);
beforeEach(() => {
  before = [first.requests.length, second.requests.length];
});
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
});
afterAll(async () => {
  await server.end();
  await place.remove();
  first.end();
  second.end();
});

describe("a conversation keeps its model", { timeout: 60_000 }, () => {
  it("run -m, then run -c: the same vendor answers, and ls and show name its model", async () => {
    await place.ok(["run", "-m", "second/example", "first question"]);
    await place.ok(["run", "-c", "second question"]);
    expect(asked()).toEqual([0, 2]);
    expect(await place.ok(["ls", "first question"])).toMatch(/first question +idle +second\/example/);
    expect(await place.ok(["show", "@"])).toContain("second/example");
    const [listed] = await place.json<ConversationMeta[]>("ls", "first question");
    expect(listed?.effective).toEqual({
      model: "second/example",
      modelFrom: "last-turn",
      reasoningEffort: "high",
    });
  });

  it("compact: the summary is written by the conversation's model", async () => {
    await place.ok(["run", "-m", "second/example", "to be summed up"]);
    await place.ok(["compact", "@", "--keep", "0"]);
    expect(asked()).toEqual([0, 2]);
    await place.ok(["run", "-c", "more"]);
    await place.ok(["compact", "@", "--keep", "0", "-m", "first/example"]);
    expect(asked()).toEqual([1, 3]);
  });

  it("chat: /model holds after the chat is left, and /compact asks that model; both are shown", async () => {
    const terminal = chat();
    await terminal.see(/Enter sends.*first\/example/);
    terminal.type(`hello${keys.enter}`);
    await terminal.see(/An answer\.[\s\S]*Enter sends.*first\/example/);
    terminal.type(`/model second${keys.enter}`);
    await terminal.see("The next turns ask second/example.");
    await terminal.see(/Enter sends.*second\/example/);
    terminal.type(`/compact 0${keys.enter}`);
    await terminal.see("The model now sees a summary");
    expect(asked()).toEqual([1, 1]);
    terminal.type(`/quit${keys.enter}`);
    expect(await terminal.exited()).toBe(0);

    const again = chat("-c");
    await again.see(/Enter sends.*second\/example/);
    again.type(`still there?${keys.enter}`);
    await again.see(/still there\?[\s\S]*An answer\.[\s\S]*Enter sends/);
    expect(asked()).toEqual([1, 2]);
  });

  it("chat: /model before the first message is the model of the conversation that begins", async () => {
    const terminal = chat();
    await terminal.see("Enter sends");
    terminal.type(`/model second${keys.enter}`);
    await terminal.see(/Enter sends.*second\/example/);
    terminal.type(`begun${keys.enter}`);
    await terminal.see("An answer.");
    terminal.type(keys.ctrlD);
    expect(await terminal.exited()).toBe(0);
    await place.ok(["run", "-c", "and on"]);
    expect(asked()).toEqual([0, 2]);
  });

  it("names a model that is not configured any more, and calls no other", async () => {
    const elsewhere = new Workplace({
      store: { folder: ".parley", durable: false },
      titleModel: "none",
      models: { first: first.credential },
    });
    try {
      await elsewhere.serve();
      await place.ok(["run", "-m", "second/example", "moves away"]);
      await place.ok(["export", "@", "-o", "moved.jsonl"]);
      await elsewhere.ok(["import", `${place.folder}/moved.jsonl`]);
      const { code, stderr } = await elsewhere.parley(["run", "-c", "go on"]);
      expect(code).toBe(1);
      expect(stderr).toContain('"second/example" is not configured');
      expect(asked()).toEqual([0, 1]);
      await elsewhere.ok(["run", "-c", "-m", "first/example", "go on"]);
      expect(asked()).toEqual([1, 1]);
    } finally {
      await elsewhere.remove();
    }
  });
});
