import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

let place: Workplace;
let server: ServerProcess;
const terminals: Terminal[] = [];

/** Sets the title, clears the screen, rings, hides, requests an answer of the terminal, and reverses the line. */
const nasty =
  "nasty \u001B]0;owned\u0007 \u001B[2J\u001B[8m \u009B2J \u009D0;owned\u009C \u0007\u0008\u007F \u001B[c \u202Eesrever\u2066 \u200F end";
const unsafe = /[^\P{Control}\n\t]|\p{Bidi_Control}/u;
/** Built from a text: linters report the escape character in a pattern. */
const sequence = (rest: string) => new RegExp(`\u001B\\[${rest}`, "g");
/** Output of Parley's own to a terminal: colors, and the line breaks that the terminal itself makes of ours. */
const ours = sequence("(?:[0-49]|2[2-49]|3[1-7]|39|9[0-7]|38;[\\d;]+)?m|\r\n");
/** Sequences with which the screen of the chat draws. */
const drawing = sequence("(?:\\?2026[hl]|\\?2004[hl]|\\d*[AJCK])|\r");

/** Runs a call in a terminal to its end, and returns its output. */
async function inTerminal(...args: readonly string[]): Promise<string> {
  const terminal = new Terminal(place, args, { cols: 200, rows: 50 });
  terminals.push(terminal);
  await terminal.exited();
  return terminal.raw();
}

beforeAll(async () => {
  place = new Workplace();
  server = await place.serve();
  await place.ok(["run"], { input: nasty });
}, 120_000);
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
});
afterAll(async () => {
  await server.end();
  await place.remove();
});

describe("text that tries to command the terminal", { timeout: 60_000 }, () => {
  it.each([
    ["export @ --format markdown"],
    ["export @"],
    ["ls"],
    ["show @"],
    ["tail @"],
    ["search nasty"],
    ["run --raw -c nasty"],
    ["run -c nasty"],
    ["context @"],
  ])("is shown without its commands: %s", async (call) => {
    const args = call.split(" ").map((word) => (word === "nasty" ? nasty : word));
    const raw = await inTerminal(...args);
    expect(raw).toContain(call === "context @" ? "call 1" : "nasty");
    expect(raw.replace(ours, "\n").replace(drawing, "")).not.toMatch(unsafe);
    expect(raw).not.toContain("\u001B[8m");
  });

  it.each([
    ["ls --json"],
    ["show @ --json"],
    ["tail @ --jsonl"],
    ["run --json -c nasty"],
    ["run --jsonl -c nasty"],
  ])("is the same value as JSON, with escapes: %s", async (call) => {
    const args = call.split(" ").map((word) => (word === "nasty" ? nasty : word));
    const raw = await inTerminal(...args);
    expect(raw.replaceAll("\r\n", "\n").replace(ours, "")).not.toMatch(unsafe);
    const [json = ""] = /\\u001b\]0;owned\\u0007(?:[^"\\]|\\.)*/.exec(raw.replaceAll("\r\n", "")) ?? [];
    expect(JSON.parse(`"${json}"`)).toContain("\u009B2J");
  });

  it("is named in failures without its commands", async () => {
    for (const args of [["show", nasty], ["nonsense", nasty], [`--${nasty}`], ["run", "-m", nasty, "x"]]) {
      const raw = await inTerminal(...args);
      expect(raw.replace(ours, "\n").replace(drawing, "")).not.toMatch(unsafe);
    }
  });

  it("reaches pipes and files as it is", async () => {
    expect(await place.ok(["export", "@", "--format", "markdown"])).toContain(nasty);
    expect(await place.ok(["show", "@", "--json"])).toContain(JSON.stringify(nasty).slice(1, -1));
    await place.ok(["export", "@", "--format", "markdown", "-o", "nasty.md"]);
    expect(place.read("nasty.md")).toContain(nasty);
  });

  it("is shown by the chat without its commands", async () => {
    const terminal = new Terminal(place, ["chat", "-c"], { cols: 200, rows: 50 });
    terminals.push(terminal);
    await terminal.see("nasty");
    terminal.type(`/ls${keys.enter}`);
    await terminal.see(/nasty[\s\S]*title[\s\S]*nasty/);
    terminal.type(`/open ${nasty.replaceAll(/[^\x20-\x7e]/g, "")}${keys.enter}`);
    terminal.type(keys.ctrlD);
    await terminal.exited();
    expect(terminal.raw().replace(ours, "\n").replace(drawing, "")).not.toMatch(unsafe);
  });
});
