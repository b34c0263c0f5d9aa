import { createHash } from "node:crypto";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileReference, StoredChunk } from "@parley/wire";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(3_000, 7)]);
const pdf = Buffer.from(`%PDF-1.4\n${"x".repeat(2_000_000)}`);

/** Fills a folder with files of all kinds. */
function fill(place: Workplace): void {
  const at = (name: string) => join(place.folder, name);
  writeFileSync(at("photo.png"), png);
  writeFileSync(at("report.pdf"), pdf);
  writeFileSync(at("notes.md"), "Some notes.\n");
  writeFileSync(at("long.txt"), "A long text.\n".repeat(20_000));
  writeFileSync(at("evil\u001B[31m\u202E\nname.png"), png);
  writeFileSync(at("huge.bin"), "");
  truncateSync(at("huge.bin"), 101 * 2 ** 20);
  mkdirSync(at("folder"));
}

interface Shown {
  readonly chunks: readonly StoredChunk[];
}

const filesOf = ({ chunks }: Shown): readonly FileReference[] =>
  chunks.flatMap(({ chunk }) => (chunk.type === "text" ? (chunk.file ?? []) : []));

describe.each(["against a server", "without a server"])("files %s", { timeout: 120_000 }, (way) => {
  let place: Workplace;
  let server: ServerProcess | undefined;
  beforeAll(async () => {
    place = new Workplace();
    fill(place);
    if (way === "against a server") server = await place.serve();
  }, 120_000);
  afterAll(async () => {
    await server?.end();
    await place.remove();
  });

  it("are attached by run, quoted where they are short texts, and named by show", async () => {
    const { conversationId } = await place.json<{ conversationId: string }>(
      "run",
      "-f",
      "photo.png",
      "-f",
      "notes.md",
      "-f",
      "report.pdf",
      "Hello",
    );
    const shown = await place.json<Shown>("show", conversationId);
    expect(filesOf(shown)).toMatchObject([
      { name: "photo.png", mediaType: "image/png", size: png.length },
      { name: "report.pdf", mediaType: "application/pdf", size: pdf.length },
    ]);
    expect(filesOf(shown)[1]?.hash).toBe(createHash("sha256").update(pdf).digest("hex"));
    const [first] = shown.chunks;
    expect(first?.chunk).toMatchObject({ type: "text", text: "Hello\n\nnotes.md:\n```\nSome notes.\n```" });
    const { stdout } = await place.parley(["show", conversationId]);
    expect(stdout).toContain("file photo.png (image/png, 2.9 KB)");
    expect(stdout).toContain("file report.pdf (application/pdf, 1.9 MB)");
  });

  if (way === "without a server") return;

  it("may be all that a message has; long texts are attached, and names are cleaned", async () => {
    const { conversationId } = await place.json<{ conversationId: string }>(
      "run",
      "-f",
      "long.txt",
      "-f",
      "evil\u001B[31m\u202E\nname.png",
    );
    const names = filesOf(await place.json<Shown>("show", conversationId)).map(({ name }) => name);
    expect(names).toEqual(["long.txt", "evil[31mname.png"]);
    await place.json("send", conversationId, "-f", "photo.png", "--wait", "And this?");
    expect(filesOf(await place.json<Shown>("show", conversationId))).toHaveLength(3);
  });

  it("are refused before anything is sent where they are not there, a folder, or too large", async () => {
    const refused = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await place.parley(["run", ...args, "Hello"]);
      expect([code, stdout]).toEqual([1, ""]);
      return stderr;
    };
    expect(await refused("-f", "nothing.png")).toMatch(/There is no such file: nothing\.png/);
    expect(await refused("-f", "folder")).toContain("folder is a folder.\nName the files in it.");
    const large = await refused("-f", "photo.png", "-f", "huge.bin");
    expect(large).toContain("huge.bin has 101 MB, and the server takes files of at most 100 MB.");
    const many = Array.from({ length: 21 }, () => ["-f", "photo.png"]).flat();
    expect(await refused(...many)).toContain("The server takes at most 20 files with a message.");
  });

  describe("in a chat", () => {
    const terminals: Terminal[] = [];
    afterEach(() => {
      for (const terminal of terminals.splice(0)) terminal.close();
    });

    it("are attached to the next message, listed, taken off, and shown by name", async () => {
      const terminal = new Terminal(place, ["chat"]);
      terminals.push(terminal);
      await terminal.see("Enter sends");
      terminal.type(`/attach nothing.png${keys.enter}`);
      await terminal.see(/✗ There is no such file: nothing\.png/);
      terminal.type(`/attach photo.png${keys.enter}`);
      await terminal.see("+ photo.png (image/png, 2.9 KB)");
      await terminal.see(/1 file · demo/);
      terminal.type(`/attach clear${keys.enter}`);
      await terminal.see("Nothing is attached.");
      terminal.type(`/attach report.pdf${keys.enter}`);
      await terminal.see("+ report.pdf (application/pdf, 1.9 MB)");
      terminal.type(`hello${keys.enter}`);
      const text = await terminal.see(/› hello[\s\S]*· file report\.pdf/);
      expect(text.match(/· file report\.pdf/g)).toHaveLength(1);
      await terminal.see(/context \d+[^─]*Enter sends/);
      expect(terminal.text()).not.toMatch(/1 file · demo[^\n]*\n*$/);
    });
  });
});
