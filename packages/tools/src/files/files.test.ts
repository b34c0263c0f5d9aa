import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool } from "../tool-call.test-support.js";
import { fileTools } from "./index.js";

const base = mkdtempSync(join(tmpdir(), "parley-files-"));
const root = join(base, "shared");
const [list, read] = fileTools({ root, maxBytes: 1_000, maxEntries: 20 });

beforeAll(() => {
  mkdirSync(join(root, "notes"), { recursive: true });
  writeFileSync(join(base, "secret.txt"), "the secret");
  writeFileSync(join(root, "notes", "a.md"), "one\ntwo\nthree\n");
  writeFileSync(join(root, "big.txt"), "é".repeat(1_000));
  writeFileSync(join(root, "picture.bin"), Buffer.from([1, 0, 2]));
  symlinkSync(join(base, "secret.txt"), join(root, "link.txt"));
  symlinkSync(base, join(root, "up"));
  symlinkSync("notes", join(root, "inside"));
  execFileSync("mkfifo", [join(root, "pipe")]);
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("the file tools", () => {
  it("list folders and read files, whole or by lines", async () => {
    expect((await callTool(list, {})).content.split("\n")).toContain("notes/");
    expect((await callTool(list, { path: "notes" })).content).toBe("a.md");
    expect((await callTool(read, { path: "notes/a.md" })).content).toBe("one\ntwo\nthree\n");
    expect((await callTool(read, { path: "notes/a.md", fromLine: 2, lines: 1 })).content).toBe("two");
    expect((await callTool(read, { path: "inside/a.md" })).content).toContain("one");
  });

  it("cut long content between characters, and report it", async () => {
    const { content } = await callTool(read, { path: "big.txt" });
    expect(content).toBe(`${"é".repeat(500)}\n[1000 more bytes are left out]`);
  });

  it.each([
    ["../secret.txt", "outside the shared folder"],
    ["notes/../../secret.txt", "outside the shared folder"],
    ["/etc/passwd", "outside the shared folder"],
    ["link.txt", "outside the shared folder"],
    ["up/secret.txt", "outside the shared folder"],
    ["..%2fsecret.txt", "does not exist"],
    ["a\0b", "NUL"],
    ["nothing.txt", "does not exist"],
    ["notes", "is a folder"],
    ["pipe", "not a regular file"],
    ["picture.bin", "is not a text file"],
  ])("refuse to read %j with a reason", async (path, message) => {
    const { content, isError } = await callTool(read, { path });
    expect(isError).toBe(true);
    expect(content).toContain(message);
    expect(content).not.toContain("the secret");
    expect(content).not.toContain(base);
  });

  it.each(["..", "up", "/", "notes/a.md"])("refuse to list %j", async (path) => {
    const { content, isError } = await callTool(list, { path });
    expect(isError).toBe(true);
    expect(content).not.toContain("secret");
  });
});
