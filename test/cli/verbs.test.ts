import { createHash } from "node:crypto";
import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openS3 } from "@parley/store/objects";
import type { ConversationMeta, ForkResponse } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { type S3Server, startS3Server } from "../harness/s3-server.js";
import { quickDemo, Workplace } from "./parley-process.js";
import { describeVerbs } from "./verbs-suite.js";

interface RunResult {
  readonly conversationId: string;
  readonly text: string;
  readonly reason: string;
}

describeVerbs("against a server");

describe("a store that moves", { timeout: 120_000 }, () => {
  it("arrives in another one byte for byte, through a pipe; a file that was cut is refused", async () => {
    const place = new Workplace();
    const other = new Workplace();
    try {
      const server = await place.serve();
      const { conversationId } = await place.json<RunResult>("run", "use many tools");
      await place.ok(["run", "-c", "hello"]);
      const fork = ["fork", conversationId, "--at", "0", "--message", "hello"];
      const { conversation } = await place.json<ForkResponse>(...fork);
      const whole = await place.ok(["export", "--all"]);
      const first = await place.ok(["export", conversationId]);
      expect(await place.ok(["export", conversationId, "--format", "markdown"])).toContain("use many tools");
      await server.end();

      const target = await other.serve();
      expect(await other.ok(["import"], { input: whole })).toContain(`${conversationId}  imported`);
      expect(await other.ok(["export", "--all"])).toBe(whole);
      expect(await other.ok(["show", conversation.id])).toContain(`fork of ${conversationId} at 0`);
      const cut = first.split("\n").slice(0, 5).join("\n");
      expect((await other.parley(["import", "--id", "cut"], { input: cut })).code).toBe(1);
      expect(await other.json<ConversationMeta[]>("ls", "cut")).toEqual([]);
      await target.end();
    } finally {
      await place.remove();
      await other.remove();
    }
  });

  it("takes files along, in a folder beside the export, byte for byte", async () => {
    const bucket = await startS3Server();
    const place = new Workplace();
    // The files of the other one go to a bucket.
    const other = new Workplace({ ...quickDemo, store: { folder: ".parley", s3: bucket.options } });
    try {
      const server = await place.serve();
      const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, index) => (index * 7) % 251));
      const hash = createHash("sha256").update(bytes).digest("hex");
      const upload = await fetch(`${server.url}/files?name=data.bin`, { method: "POST", body: bytes });
      const { id } = (await upload.json()) as { id: string };
      const parts = [{ type: "file", uploadId: id }];
      const sent = await fetch(`${server.url}/chat`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ conversationId: "with-files", message: "hello", parts }),
      });
      await sent.text();
      const piped = await place.parley(["export", "with-files"]);
      expect(piped.stderr).toContain("1 file left out");
      await place.ok(["export", "--all", "-o", "backup/"]);
      const backup = join(place.folder, "backup");
      expect(readFileSync(join(backup, "with-files.files", hash)).equals(bytes)).toBe(true);
      await server.end();

      const target = await other.serve();
      const refused = await other.parley(["import"], { input: piped.stdout });
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("is not there") as unknown });
      cpSync(backup, join(other.folder, "backup"), { recursive: true });
      const file = join(other.folder, "backup", "with-files.files", hash);
      renameSync(file, `${file}.away`);
      expect((await other.parley(["import", "backup"])).stderr).toContain(
        "Not in backup/with-files.files: data.bin.",
      );
      writeFileSync(file, "damaged");
      expect((await other.parley(["import", "backup"])).stderr).toContain("is damaged");
      renameSync(`${file}.away`, file);
      expect(await other.ok(["import", "backup"])).toContain("with-files  imported");
      const read = await fetch(`${target.url}/conversations/with-files/files/2`);
      expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true);
      await other.ok(["export", "with-files", "-o", "again.jsonl"]);
      expect(readFileSync(join(other.folder, "again.jsonl"), "utf8")).toBe(piped.stdout);
      expect(readFileSync(join(other.folder, "again.files", hash)).equals(bytes)).toBe(true);
      // The damaged one is removed with the next collection.
      expect([3, 4]).toContain(await objectsIn(bucket));
      await target.end();
    } finally {
      await bucket.stop();
      await place.remove();
      await other.remove();
    }
  });
});

async function objectsIn({ options }: S3Server): Promise<number> {
  let count = 0;
  for await (const _ of openS3(options).list("")) count += 1;
  return count;
}
