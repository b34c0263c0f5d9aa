import { describe, expect, it } from "vitest";
import { createIo, type Outlet } from "./io.js";

const nasty = "a\u001B]0;title\u0007b\u009B2Jc\u202Ed\u007Fe";
const unsafe = /[^\P{Control}\n\t]|\p{Bidi_Control}/u;

class Recorded implements Outlet {
  text = "";
  readonly columns = 80;
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string, written?: (error?: Error | null) => void): boolean {
    this.text += text;
    written?.();
    return true;
  }
}

/** Says the same in every way that there is. */
async function sayAll(isTTY: boolean): Promise<{ stdout: string; stderr: string }> {
  const stdout = new Recorded(isTTY);
  const stderr = new Recorded(isTTY);
  const io = createIo({ color: false }, { stdout, stderr, stdin: { isTTY } });
  io.write(`${nasty}\n`);
  io.line(nasty);
  io.lines([nasty, nasty]);
  io.json({ [nasty]: nasty });
  io.jsonLine([nasty]);
  await io.pass(`${nasty}\n`, "text");
  await io.pass(`${JSON.stringify(nasty)}\n`, "json");
  io.note(nasty);
  io.warn(nasty);
  return { stdout: stdout.text, stderr: stderr.text };
}

describe("what is written", () => {
  it("reaches a terminal without anything that it would obey, and JSON with the same value", async () => {
    const { stdout, stderr } = await sayAll(true);
    expect(stdout).not.toMatch(unsafe);
    expect(stderr).not.toMatch(unsafe);
    const lines = stdout.trim().split("\n");
    expect(JSON.parse(lines.at(-1) ?? "")).toBe(nasty);
    expect(JSON.parse(lines.slice(4, 7).join(""))).toEqual({ [nasty]: nasty });
  });

  it("reaches a pipe or a file byte for byte", async () => {
    const { stdout, stderr } = await sayAll(false);
    const json = [JSON.stringify({ [nasty]: nasty }, null, 2), JSON.stringify([nasty])];
    const lines = [nasty, nasty, nasty, nasty, ...json, nasty, JSON.stringify(nasty)];
    expect(stdout).toBe(lines.map((line) => `${line}\n`).join(""));
    expect(stderr).toBe(`${nasty}\n${nasty}\n`);
  });

  it("is judged for each stream by itself, and progress is drawn on a terminal alone", () => {
    const stdout = new Recorded(false);
    const stderr = new Recorded(true);
    const io = createIo({ color: false }, { stdout, stderr, stdin: {} });
    io.write(nasty);
    io.progress(`${nasty}\u001B[5m`);
    expect(stdout.text).toBe(nasty);
    expect(stderr.text.replace("\r\u001B[K", "")).not.toMatch(unsafe);
  });
});
