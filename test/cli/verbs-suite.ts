import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type {
  ApiKeyInfo,
  ConversationMeta,
  CreateWebhookResponse,
  DeliveryInfo,
  DoctorResponse,
  QueuePayload,
  SearchHit,
  StoredChunk,
  UsageResponse,
} from "@parley/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, Workplace } from "./parley-process.js";

interface RunResult {
  readonly conversationId: string;
  readonly text: string;
  readonly reason: string;
}

/**
 * Describes the same calls with a server on the store, and without one. Without a server each call opens the store,
 * which takes its time, so there each verb is called only once.
 */
export function describeVerbs(way: "against a server" | "without a server"): void {
  describe(`every verb ${way}`, { timeout: 120_000 }, () => {
    const hasServer = way === "against a server";
    let place: Workplace;
    let server: ServerProcess | undefined;
    let first: RunResult;
    let id: string;

    beforeAll(async () => {
      place = new Workplace();
      if (hasServer) server = await place.serve();
      first = await place.json<RunResult>("run", "What is (3 + 4) * 12?");
      id = first.conversationId;
    }, 120_000);
    afterAll(async () => {
      await server?.end();
      await place.remove();
    });

    it("run: asks once, and gives the whole as one object", () => {
      expect(first).toMatchObject({ reason: "stop", text: expect.stringContaining("= 84") as unknown });
    });

    it("run: the answer alone is on standard output; -c continues the same conversation", async () => {
      const { code, stdout, stderr } = await place.parley(["run", "-c", "hello"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Hello! I am the demo model[\s\S]*\n$/);
      expect(stderr).toContain(`parley run --in ${id}`);
    });

    it.runIf(hasServer)("run: takes words, standard input and files, and gives events as lines", async () => {
      const args = ["run", "--jsonl", "Read", "this:", "-f", "parley.config.json"];
      const lines = (await place.ok(args, { input: "piped words" })).trim().split("\n");
      const events = lines.map((line) => JSON.parse(line) as { type: string; text?: string });
      const asked = events.find(({ type }) => type === "user-message")?.text ?? "";
      expect(asked).toMatch(/^Read this:\n\npiped words\n\nparley\.config\.json:\n```\n\{[\s\S]*```$/);
      expect(events.at(-1)?.type).toBe("turn-sealed");
    });

    it.runIf(hasServer)("run: with a schema, the value alone is on standard output", async () => {
      const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
      writeFileSync(join(place.folder, "city.json"), JSON.stringify(schema));
      expect(JSON.parse(await place.ok(["run", "--schema", "city.json", "Which city?"]))).toEqual({
        city: "demo",
      });
      // The demo model does not support patterns.
      const strict = { ...schema, properties: { city: { type: "string", pattern: "^B" } } };
      writeFileSync(join(place.folder, "strict.json"), JSON.stringify(strict));
      const { code, stdout, stderr } = await place.parley(["run", "--schema", "strict.json", "Which city?"]);
      expect([code, stdout]).toEqual([3, ""]);
      expect(stderr).toContain("/city");
      const missing = await place.parley(["run", "--schema", "parley.config.json", "--", "x"]);
      expect(missing.code).toBe(1);
    });

    it("chat: without a terminal, asks the lines of standard input one by one", async () => {
      const said = await place.ok(["chat"], { input: "What is 6 * 7?\n\nhello\n" });
      expect(said).toMatch(/› What is 6 \* 7\?[\s\S]*"value":42[\s\S]*› hello[\s\S]*I am the demo model/);
    });

    it("run and chat --temporary: leave nothing behind", async () => {
      const run = await place.json<RunResult>("run", "--temporary", "What is 2 * 21?");
      expect(run.text).toContain("42");
      const shown = await place.parley(["show", run.conversationId]);
      expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining("No conversation")]);
      if (!hasServer) return;
      const input = "What is 6 * 7?\n";
      expect(await place.ok(["chat", "--temporary"], { input })).toContain('"value":42');
      const titles = (await place.json<ConversationMeta[]>("ls")).map(({ title }) => title);
      expect(titles).not.toContain("What is 2 * 21?");
      const hits = await place.json<SearchHit[]>("search", "21");
      expect(hits).toEqual([]);
      const refused = await place.parley(["chat", id, "--temporary"], { input });
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("for a new conversation")]);
    });

    it("rename, ls, search: name, list and find conversations", async () => {
      await place.ok(["rename", id, "Tomatoes", "on the balcony"]);
      expect(await place.ok(["ls", "tomatoes"])).toMatch(/^id +title +status[\s\S]*Tomatoes on the balcony/);
      const hits = await place.json<SearchHit[]>("search", "calcul");
      expect(hits.map(({ conversationId }) => conversationId)).toContain(id);
      expect(await place.ok(["search", "balc"])).toMatch(/title Tomatoes on the balcony/);
    });

    it("pin, unpin, ls --model, search --in: order and narrow what is listed", async () => {
      const [newest = ""] = (await place.json<ConversationMeta[]>("ls", "-n", "1")).map((meta) => meta.id);
      await place.ok(["pin", id]);
      const [first] = await place.json<ConversationMeta[]>("ls", "-n", "1");
      expect(first).toMatchObject({ id, pinned: true });
      expect(await place.ok(["ls"])).toMatch(/idle, pinned/);
      // The newest one is the newest one, whatever is pinned.
      const inNewest = await place.json<SearchHit[]>("search", "--in", "@", "demo");
      expect(new Set(inNewest.map(({ conversationId }) => conversationId))).toEqual(new Set([newest]));
      expect((await place.json<ConversationMeta[]>("ls", "--model", "demo/demo")).length).toBeGreaterThan(1);
      expect((await place.parley(["ls", "--model", "no/model"])).stderr).toContain("uses the model no/model");
      await place.ok(["unpin", id]);
      expect((await place.json<ConversationMeta[]>("ls", "-n", "1"))[0]?.id).toBe(newest);
    });

    it("show, tail: the messages, for people and for programs", async () => {
      const shown = await place.ok(["show", id]);
      expect(shown).toMatch(/› What is \(3 \+ 4\) \* 12\?[\s\S]*✓ calculator[\s\S]*• calculator says/);
      const lines = (await place.ok(["tail", id, "--jsonl", "-n", "3"])).trim().split("\n");
      expect(lines.map((line) => (JSON.parse(line) as StoredChunk).seq)).toHaveLength(3);
    });

    it.runIf(hasServer)("show: takes the beginning of an id, and gives the log as JSON", async () => {
      const { chunks } = await place.json<{ chunks: StoredChunk[] }>("show", id.slice(0, 9));
      expect(chunks.filter(({ role }) => role === "user")).toHaveLength(2);
      expect(chunks.map(({ seq }) => seq)).toEqual(chunks.map((_, index) => index + 1));
    });

    it("send, queue: a message begins a turn when none runs, and nothing waits", async () => {
      const sent = await place.json<{ outcome: string }>("send", id, "--wait", "What is 2 ^ 10?");
      expect(sent.outcome).toBe("started");
      const { stderr } = await place.parley(["send", id, "--wait", "hello"]);
      // Without a server no other process can open the store until the turn has ended.
      expect(stderr).toMatch(
        hasServer ? `A turn has begun in ${id}. Follow it` : `A turn has begun in ${id}.\n`,
      );
      expect(await place.json<QueuePayload>("queue", id)).toMatchObject({ messages: [] });
      if (!hasServer) return;
      expect(await place.json("queue", "add", id, "hello")).toMatchObject({ startedTurn: true });
      await expect(place.ok(["queue", "rm", id, "no-such"])).rejects.toThrow('no queued message "no-such"');
      await place.ok(["queue", "resume", id]);
    });

    it("stop, close, open: do what they say", async () => {
      await place.ok(["stop", id]);
      await place.ok(["close", id]);
      if (hasServer) {
        const closed = await place.json<ConversationMeta[]>("ls", "--status", "closed");
        expect(closed.map((meta) => meta.id)).toEqual([id]);
      }
      const opened = await place.parley(["open", id]);
      expect(opened).toMatchObject({ code: 0, stderr: expect.stringContaining(id) as unknown });
    });

    it("metrics, context: figures as a table and charts, manifests as a tree", async () => {
      const figures = await place.ok(["metrics", id]);
      expect(figures).toMatch(/first token[\s\S]*Time per turn[\s\S]*█[\s\S]*Context {2}[▁-█]+/);
      const tree = await place.ok(["context", id, "-t", "1"]);
      expect(tree).toMatch(/├─ call 1[\s\S]*└─ call 2[\s\S]*= messages[\s\S]*\+ messages/);
      if (!hasServer) return;
      const refused = async (...args: readonly string[]) =>
        (await place.parley(["context", id, ...args])).stderr;
      expect(await refused("-t", "2", "--call", "9")).toMatch("This turn made 1 call: there is no number 9.");
      expect(await refused("-t", "99")).toMatch(/There is no turn 99: there are only \d+\./);
    });

    it("metrics --cost: sums over all conversations, with unknown calls counted", async () => {
      const sums = await place.json<UsageResponse>("metrics", "--cost", "--by", "model");
      expect(sums.groups[0]).toMatchObject({ model: "demo/demo", amounts: [] });
      expect(sums.total.unknownCalls).toBe(sums.total.calls);
      expect(sums.total.calls).toBeGreaterThan(1);
      if (!hasServer) return;
      expect(await place.ok(["metrics", "--cost"])).toMatch(/^day +calls[\s\S]*unknown for \d+ calls/);
      expect((await place.parley(["metrics"])).stderr).toContain("No conversation is named.");
      const refused = await place.parley(["metrics", "--cost", "--from", "2026-02-30"]);
      expect(refused).toMatchObject({ code: 1, stderr: "parley: From: a day as YYYY-MM-DD.\n" });
    });

    it("compact: does what it previews, and undoes it", async () => {
      interface Covered {
        readonly messagesSummarized: number;
      }
      const args = ["compact", id, "--keep", "2"];
      const preview = hasServer ? await place.json<Covered>(...args, "--preview") : undefined;
      const { messagesSummarized } = await place.json<Covered>(...args);
      expect(messagesSummarized).toBeGreaterThan(2);
      if (preview === undefined) return;
      expect(preview.messagesSummarized).toBe(messagesSummarized);
      expect(await place.ok(["show", id])).toMatch(/≡ Summary of entries 1 to \d+/);
      expect(await place.ok(["show", id])).not.toContain("undone");
      await place.ok(["compact", id, "--undo"]);
      expect(await place.ok(["show", id])).toMatch(/≡ Summary of entries 1 to \d+, undone since/);
    });

    it("fork: shares the log up to a place, and may begin with a message", async () => {
      const forked = await place.json("fork", id, "--at", "0", "--message", "hello");
      expect(forked).toMatchObject({ conversation: { parentId: id, forkedAtSeq: 0 } });
      if (!hasServer) return;
      const { chunks } = await place.json<{ chunks: StoredChunk[] }>("show", id);
      const end = chunks.findLast(({ turnId }) => turnId === chunks[0]?.turnId)?.seq;
      const refused = await place.parley(["fork", id, "--at", "1"]);
      expect(refused.stderr).toMatch(`No turn ends at entry 1.\nThe nearest place for a fork: 0 or ${end}.`);
    });

    it("export, import: what was exported is recognised when it comes back", async () => {
      await place.ok(["export", "--all", "-o", "backup/"]);
      expect(place.read(`backup/${id}.jsonl`)).toContain("What is (3 + 4) * 12?");
      const again = await place.parley(["import", "backup"]);
      expect(again.stdout).toContain(`${id}  was there already`);
      expect(again.stderr).toMatch(/^0 conversations imported, \d+ there already, 0 files refused\.$/m);
    });

    it("models, migrate, doctor: report the state", async () => {
      expect(await place.ok(["models"])).toMatch(/demo\/demo +16k/);
      expect((await place.parley(["migrate"])).code).toBe(0);
      const { healthy, findings } = await place.json<DoctorResponse>("doctor", "--fix");
      expect(findings.filter(({ level }) => level === "error")).toEqual([]);
      expect(healthy).toBe(true);
      expect(findings.map(({ area }) => area)).toEqual(
        expect.arrayContaining(["config", "disk", "schema", "log"]),
      );
    });

    it("rm: deletes permanently, when that is confirmed", async () => {
      if (hasServer) {
        const refused = await place.parley(["rm", "@"]);
        expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") as unknown });
      }
      const { deletedIds } = await place.json<{ deletedIds: string[] }>("rm", "@", "--yes");
      expect(deletedIds).toHaveLength(1);
    });

    it.runIf(hasServer)(
      "webhooks: added with a secret, listed without, tested, replayed and removed",
      async () => {
        const refused = await place.parley(["webhooks", "add", "http://127.0.0.1:1/"]);
        expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("not a public address")]);
        const url = "https://hooks.invalid/parley";
        const added = await place.json<CreateWebhookResponse>(
          "webhooks",
          "add",
          url,
          "--events",
          "turn.sealed",
        );
        const { id } = added.webhook;
        expect(added.secret).toMatch(/^whsec_/);
        await place.ok(["run", "hello"]);
        const listed = await place.ok(["webhooks"]);
        expect(listed).toMatch(/turn\.sealed/);
        expect(listed).not.toContain(added.secret);
        const tested = await place.parley(["webhooks", "test", id.slice(0, 20)]);
        expect([tested.code, tested.stderr]).toEqual([1, expect.stringContaining("Not delivered")]);
        expect(tested.stderr).not.toContain("hooks.invalid/parley");
        const [delivery] = await place.json<DeliveryInfo[]>("webhooks", "deliveries", id);
        expect(delivery).toMatchObject({ type: "turn.sealed", state: "pending" });
        await place.ok(["webhooks", "disable", id]);
        expect(await place.ok(["webhooks", "dead", id])).toContain("turn.sealed");
        const { stderr } = await place.parley(["webhooks", "enable", id]);
        expect(stderr).toContain(`parley webhooks replay ${id} --dead`);
        const asked = await place.parley(["webhooks", "replay", id]);
        expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("--since")]);
        expect((await place.parley(["webhooks", "replay", id, "--dead"])).stderr).toContain(
          "1 delivery is made again",
        );
        await place.ok(["webhooks", "rm", id]);
        expect(await place.json("webhooks", "ls")).toEqual([]);
      },
    );

    it("keys: made, listed and revoked; a server then asks for them", async () => {
      const secret = (await place.ok(["keys", "create"])).trim();
      expect(secret).toMatch(/^pk_/);
      const env = { PARLEY_API_KEY: secret };
      if (server !== undefined) {
        const refused = await place.parley(["ls"]);
        expect(refused).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("PARLEY_API_KEY") as unknown,
        });
        expect(server.output().stdout).not.toContain(secret);
        const listed = JSON.parse(await place.ok(["keys", "ls", "--json"], { env })) as ApiKeyInfo[];
        expect(listed).toMatchObject([{ owner: "local", scopes: ["read", "write", "approve", "admin"] }]);
      }
      const ended = await place.parley(["keys", "logout", "key_"], { env });
      expect(ended.stderr).toMatch(/Ended 0 logins of key_\w+\. The key itself still works\./);
      await place.ok(["keys", "rm", "key_"], { env });
    });
  });
}
