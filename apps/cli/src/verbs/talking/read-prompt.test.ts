import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPrompt } from "./read-prompt.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-prompt-"));
  writeFileSync(join(folder, "a.md"), "some ``` fence\n");
  writeFileSync(join(folder, "image"), Buffer.from([0xff, 0xd8, 0x00]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const piped = (text: string) => Readable.from([Buffer.from(text)]);

describe("a prompt", () => {
  it("is words, then what is piped in, then files under their names, fenced so that nothing breaks out", async () => {
    const prompt = await readPrompt({
      words: ["Sum", "up"],
      files: [join(folder, "a.md")],
      input: piped("piped\n\n"),
    });
    expect(prompt).toBe("Sum up\n\npiped\n\na.md:\n````\nsome ``` fence\n````");
  });

  it("does not wait for a terminal", async () => {
    const terminal = Object.assign(piped("typed"), { isTTY: true });
    expect(await readPrompt({ words: ["Hello"], input: terminal })).toBe("Hello");
  });

  it("may be standard input alone, named by a dash", async () => {
    expect(await readPrompt({ words: ["-"], input: piped("words") })).toBe("words");
    await expect(readPrompt({ words: ["-"], input: undefined })).rejects.toThrow("which is empty");
  });

  it("is refused when it is nothing, or not text", async () => {
    await expect(readPrompt({ words: [], input: piped("") })).rejects.toThrow("prompt is empty");
    await expect(readPrompt({ words: [], files: [join(folder, "image")], input: undefined })).rejects.toThrow(
      "not text",
    );
    await expect(
      readPrompt({ words: [], files: [join(folder, "missing")], input: undefined }),
    ).rejects.toThrow("ENOENT");
  });
});
