import { once } from "node:events";
import type { GrantInfo, PendingRequest, RespondResponse } from "@parley/wire";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { keepPicture } from "./keep-picture.js";
import { type ServerProcess, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

let place: Workplace;
let server: ServerProcess;
const terminals: Terminal[] = [];

beforeAll(async () => {
  place = new Workplace();
  server = await place.serve();
}, 120_000);
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
});
afterAll(() => place.remove());

const open = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const terminal = new Terminal(place, args, { cols: 90, rows: 32 }, env);
  terminals.push(terminal);
  return terminal;
};

/** Sends a message, and returns the requests that its turn waits for. */
async function waitFor(message: string, more: object = {}): Promise<readonly PendingRequest[]> {
  const call = (path: string, init?: RequestInit) => fetch(new URL(path, server.url), init);
  const response = await call("/chat", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/x-ndjson" },
    body: JSON.stringify({ message, ...more }),
  });
  const [first = ""] = (await response.text()).split("\n");
  const { conversationId } = JSON.parse(first) as { conversationId: string };
  const list = await call(`/pending?conversationId=${conversationId}`);
  return ((await list.json()) as { pending: PendingRequest[] }).pending;
}

async function one(message: string, more: object = {}): Promise<PendingRequest> {
  const [request] = await waitFor(message, more);
  if (request === undefined) throw new Error("nothing waits");
  return request;
}

const json = async <Value>(...args: readonly string[]) => place.json<Value>(...args);

describe("verbs that decide what turns wait for", { timeout: 60_000 }, () => {
  it("pending lists what will run, why and since when; approve runs it with the arguments that were edited", async () => {
    const { requestId, conversationId } = await one("ask me before you water the plants");
    const table = await place.ok(["pending", conversationId]);
    expect(table).toMatch(/^id +waits for +tool +arguments +why +in +since +expires$/m);
    expect(table).toMatch(
      /approval +demo_errand +\{"task":"water the plants"\} +You wanted to be asked first\./,
    );
    const edit = ["--edit", '{"task":"feed the cat"}', "--note", "rather"];
    const { response } = await json<RespondResponse>("approve", requestId.slice(0, 30), ...edit);
    expect(response).toMatchObject({ decision: "allow", argumentsText: '{"task":"feed the cat"}' });
    const shown = await place.ok(["show", conversationId]);
    expect(shown).toMatch(/├ allowed by local, with other arguments: \{"task":"feed the cat"\} \(rather\)/);

    const late = await place.parley(["--url", server.url, "deny", requestId]);
    expect(late).toMatchObject({ code: 1, stdout: "" });
    expect(late.stderr).toContain("It was decided already: allowed by local, with other arguments");
  });

  it("answer takes an option, a text or JSON; it hands in what a caller's tool gave, or that it failed", async () => {
    const choice = await one("ask me tea or coffee");
    const wrong = await place.parley(["answer", choice.requestId, "milk"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('"tea", "coffee"') as unknown });
    expect((await place.parley(["approve", choice.requestId])).stderr).toContain("Use `parley answer`");
    await place.ok(["answer", choice.requestId, "tea"]);
    expect(await place.ok(["show", choice.conversationId])).toContain("ask_user says tea");

    const output = await one("show me the folder", { tools: [{ name: "list_files" }] });
    expect(output).toMatchObject({ kind: "tool-output", toolName: "list_files" });
    const failed = await json<RespondResponse>("answer", output.requestId, "--error", '"no such place"');
    expect(failed.response).toMatchObject({ decision: "output", value: "no such place", isError: true });
  });

  it("deny gives the model the reason; --always lets later calls run, until grants rm", async () => {
    const [first, second] = await waitFor("ask me before you sing and dance");
    if (first === undefined || second === undefined) throw new Error("two calls wait");
    await place.ok(["deny", first.requestId, "--note", "too loud"]);
    await place.ok(["approve", second.requestId, "--always", "owner"]);
    const shown = await place.ok(["show", second.conversationId]);
    expect(shown).toContain("The user denied this call. It was not run. They said: too loud");
    const free = await place.parley(["run", "ask me before you hum"]);
    expect(free.stdout).toContain("done, in a manner of speaking: hum");
    const [grant] = await json<GrantInfo[]>("grants");
    expect(grant).toMatchObject({ toolName: "demo_errand", scope: { in: "owner" } });
    await place.ok(["grants", "rm", grant?.id ?? ""]);
    const tools = await place.ok(["tools"]);
    expect(tools).toMatch(/demo_errand +builtin +as it decides/);
    expect(tools).toMatch(/ask_user +builtin/);
  });

  it("run --queue waits for the turn that runs, and then prints the answer of its own", async () => {
    const { requestId, conversationId } = await one("ask me before you water the plants");
    const refused = await place.parley(["run", "--in", conversationId, "What is 6 * 7?"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--queue") as unknown });
    const asking = place.start(["run", "--in", conversationId, "--queue", "What is 6 * 7?"]);
    asking.stdin?.end();
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      asking[name]?.setEncoding("utf8").on("data", (text: string) => {
        said[name] += text;
      });
    const closed = once(asking, "close");
    while (!said.stderr.includes("Waits in")) await once(asking.stderr ?? asking, "data");
    expect(said.stdout).toBe("");
    await place.ok(["approve", requestId]);
    expect(await closed).toEqual([0, null]);
    expect(said.stdout).toContain("42");
    expect(said.stdout).not.toContain("water the plants");
  });

  it("run denies without a terminal and says so; all allows; ask needs one", async () => {
    const denied = await place.parley(["run", "ask me before you sing and dance"]);
    expect(denied.code).toBe(0);
    expect(denied.stdout.match(/The user denied this call/g)).toHaveLength(2);
    expect(denied.stdout.match(/I ask you first/g)).toHaveLength(1);
    expect(denied.stderr).toMatch(
      /\? demo_errand \{"task":"dance"\}: denied by local \(no approver is available\)\. .*--approve all/,
    );
    expect(denied.stderr.match(/• demo_errand/g)).toHaveLength(2);
    const allowed = await place.parley(["run", "--approve", "all", "--jsonl", "ask me before you sing"]);
    const types = allowed.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.filter((type) => type === "user-message" || type === "tool-call")).toHaveLength(2);
    expect(types.indexOf("input-response")).toBeLessThan(types.indexOf("tool-result"));
    expect(types.at(-1)).toBe("turn-sealed");
    const asked = await place.parley(["run", "--approve", "ask", "ask me before you sing"]);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("needs a terminal") as unknown });
    const lines = await place.parley(["chat"], { input: "ask me tea or coffee\nhello\n" });
    expect(lines.stdout).toMatch(/did not want to answer[\s\S]*I am the demo model/);
  });

  it("continues in the verb's own process where no server runs", async () => {
    const { requestId, conversationId } = await one("ask me before you water the plants");
    await server.end();
    try {
      const { stderr } = await place.parley(["approve", requestId]);
      expect(stderr).toContain("demo_errand: allowed by local");
      expect(await place.ok(["show", conversationId])).toContain("done, in a manner of speaking");
    } finally {
      server = await place.serve();
    }
  });
});

describe("the prompt", { timeout: 60_000 }, () => {
  it("asks for several calls in a row, shows them as data, and runs what was edited", async () => {
    const terminal = open(["chat"]);
    await terminal.see("Enter sends");
    const hostile = "gpj.\u202Eexe";
    terminal.type(`ask me before you open ${hostile} and feed the cat${keys.enter}`);
    await terminal.see(/"task": "open gpj\.\\u202eexe"[\s\S]*always allow demo_errand in all conversations/);
    await terminal.see("2 wait");
    await keepPicture(terminal);
    expect(terminal.text()).not.toContain("\u202E");
    terminal.type(`a long story${keys.enter}`);
    await terminal.see("none of the choices");
    terminal.type(`\u0015d no${keys.enter}`);
    await terminal.see(/"task": "feed the cat"[\s\S]*a letter, then Enter/);
    terminal.type(`e${keys.enter}`);
    await terminal.see("Enter takes the arguments");
    // Deletes the three lines of the arguments, each with Ctrl-U and Backspace.
    terminal.type(`${"\u0015\u007F".repeat(3)}{"task":"feed the dog"}${keys.enter}`);
    await terminal.see(/- +"task": "feed the cat"[\s\S]*\+ +"task": "feed the dog"/);
    terminal.type(`a${keys.enter}`);
    const text = await terminal.see(/speaking: feed the dog[\s\S]*Enter sends/);
    expect(text).toMatch(/✗ demo_errand[\s\S]*├ denied by local \(no\)/);
    expect(text).toMatch(
      /✓ demo_errand[\s\S]*├ allowed by local, with other arguments: \{"task":"feed the dog"\}/,
    );
  });

  it("closes when another client decides, and shows by whom", async () => {
    const terminal = open(["chat"]);
    await terminal.see("Enter sends");
    terminal.type(`ask me tea or coffee${keys.enter}`);
    await terminal.see(/1 {2}tea[\s\S]*2 {2}coffee[\s\S]*Enter answers/);
    const [request] = await json<PendingRequest[]>("pending", "@");
    await place.ok(["answer", request?.requestId ?? "", "coffee"]);
    await terminal.see('Decided elsewhere: ask_user was answered by local: "coffee".');
    await terminal.see(/ask_user says coffee[\s\S]*Enter sends/);
  });

  it("leaves the turn waiting with Ctrl-C, and asks again when the chat is opened again", async () => {
    const terminal = open(["chat"]);
    await terminal.see("Enter sends");
    terminal.type(`ask me before you sing${keys.enter}`);
    await terminal.see("a letter, then Enter");
    terminal.type(keys.ctrlC);
    await terminal.see("The turn goes on waiting");
    terminal.type(keys.tab);
    await terminal.see("a letter, then Enter");
    terminal.type(`${keys.ctrlC}${keys.ctrlC}`);
    expect(await terminal.exited()).toBe(130);

    const again = open(["chat", "-c"]);
    await again.see(/› ask me before you sing[\s\S]*"task": "sing"[\s\S]*a letter, then Enter/);
    again.type(`c${keys.enter}`);
    await again.see(/├ allowed by local, from now on in this conversation[\s\S]*Enter sends/);
    // The standing approval applies, so the next call does not ask.
    again.type(`ask me before you sing${keys.enter}`);
    await again.see(/from now on[\s\S]*✓ demo_errand[^├]*done[\s\S]*Enter sends/);
  });

  it("is on standard error in run, so that the answer alone can be piped", async () => {
    const terminal = open(["run", "ask me before you sing"]);
    await terminal.see("a letter, then Enter");
    terminal.type(`a${keys.enter}`);
    await terminal.see(/demo_errand says done/);
    expect(await terminal.exited()).toBe(0);
    const left = open(["run", "ask me my name"]);
    await left.see(/Your name\?[\s\S]*Enter answers/);
    left.type(keys.ctrlC);
    await left.see("The turn waits for one answer: parley pending");
    expect(await left.exited()).toBe(130);
  });

  it("needs a key with the scope that is named", async () => {
    const admin = { PARLEY_API_KEY: (await place.ok(["keys", "create"])).trim() };
    const make = async (...args: string[]) =>
      (await place.ok(["keys", "create", ...args], { env: admin })).trim();
    const writer = { PARLEY_API_KEY: await make("--owner", "local") };
    const approver = { PARLEY_API_KEY: await make("--owner", "local", "--scope", "read,approve") };
    const terminal = open(["chat"], writer);
    await terminal.see("Enter sends");
    terminal.type(`ask me before you sing${keys.enter}`);
    await terminal.see("a letter, then Enter");
    terminal.type(`a${keys.enter}`);
    await terminal.see(/✗ This needs a key with the scope "approve"; this one has read, write\./);
    const listed = await place.ok(["pending", "--json"], { env: approver });
    const [request] = (JSON.parse(listed) as PendingRequest[]).slice(-1);
    await place.ok(["approve", request?.requestId ?? ""], { env: approver });
    await terminal.see(/├ allowed by pk_\w+[\s\S]*Enter sends/);
  });
});
