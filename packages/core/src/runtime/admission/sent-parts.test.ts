import { createHash } from "node:crypto";
import {
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  gate,
  pause,
  text,
} from "@parley/testing";
import type { AgentEvent, ExportLine, SentPart, UploadInfo } from "@parley/wire";
import { afterEach, describe, expect, it } from "vitest";
import type { OwnerRuntime } from "../api/owner-runtime.js";
import type { FileLimits } from "../files/file-limits.js";
import { createModelCatalog } from "../models.js";
import { createRuntime, type Runtime } from "../runtime.js";

const running: Runtime[] = [];
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime.close();
});

async function start(limits: Partial<FileLimits> = {}) {
  const clock = createManualClock();
  const store = createMemoryLogStore({ clock });
  const held = gate();
  const provider = createScriptedProvider(({ messages }) =>
    JSON.stringify(messages).includes("wait") ? [pause(held), text("Done.")] : [text("Nice.")],
  );
  const runtime = await createRuntime({
    store,
    clock,
    models: createModelCatalog([
      { provider, providerName: "scripted", name: "scripted/one", model: "one", contextWindow: 100_000 },
    ]),
    files: { limits },
  });
  running.push(runtime);
  return { runtime, clock, store, me: runtime.forOwner("me"), provider, held };
}

async function upload(me: OwnerRuntime, content: string, name: string): Promise<UploadInfo> {
  const hash = createHash("sha256");
  async function* bytes() {
    yield new TextEncoder().encode(content);
  }
  return me.files.upload({
    name,
    bytes: bytes(),
    hash: { update: (piece) => void hash.update(piece), digest: () => hash.digest("hex") },
  });
}

const fileOf = ({ id }: UploadInfo): SentPart => ({ type: "file", uploadId: id });

async function eventsOf(me: OwnerRuntime, conversationId: string, turnId: string): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const { event } of me.events(conversationId, turnId)) events.push(event);
  return events;
}

describe("a message with files", () => {
  it("has a chunk that names each, and the file is read by its seq", async () => {
    const { me } = await start();
    const file = await upload(me, "# Notes", "notes.md");
    await me.send({ conversationId: "c1", message: "Read this:", parts: [fileOf(file)] });
    await me.last("c1");
    const { chunks } = await me.history({ conversationId: "c1" });
    expect(chunks.slice(0, 2).map(({ chunk }) => chunk)).toEqual([
      { type: "text", text: "Read this:" },
      {
        type: "text",
        text: "[notes.md, text/markdown, 7 bytes]",
        file: { seq: 2, name: "notes.md", mediaType: "text/markdown", size: 7, hash: file.hash },
      },
    ]);
    const opened = await me.files.open({ conversationId: "c1", seq: 2 });
    expect(opened).toMatchObject({ name: "notes.md", mediaType: "text/markdown", size: 7 });
    await expect(me.files.open({ conversationId: "c1", seq: 1 })).rejects.toMatchObject({
      code: "conversation_not_found",
    });
  });

  it("says the same to those who watch the turn and to those who see it later", async () => {
    const { me } = await start();
    const file = await upload(me, "x", "a.txt");
    const sent = {
      conversationId: "c1",
      message: "Look:",
      parts: [fileOf(file), { type: "text", text: "Well?" }],
    } as const;
    const { turnId = "" } = await me.send(sent);
    const [live] = await eventsOf(me, "c1", turnId);
    const [replayed] = await eventsOf(me, "c1", turnId);
    expect(live).toMatchObject({ type: "user-message", text: "Look:\n[a.txt, text/plain, 1 byte]\nWell?" });
    expect(replayed).toEqual(live);
  });

  it("may say nothing else, and its title is the name of the file then", async () => {
    const { me } = await start();
    const file = await upload(me, "x", "a.txt");
    await me.send({ conversationId: "c1", message: "", parts: [fileOf(file)] });
    await me.last("c1");
    expect((await me.meta("c1")).title).toBe("a.txt");
    await expect(
      me.send({ conversationId: "c2", message: " ", parts: [{ type: "text", text: "" }] }),
    ).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("sent again is the same message, also when its upload has expired since", async () => {
    const { me, clock } = await start({ unsentMs: 1_000, sweepMs: 500 });
    const file = await upload(me, "x", "a.txt");
    const sent = { conversationId: "c1", messageId: "m1", message: "Look:", parts: [fileOf(file)] };
    const first = await me.send(sent);
    await me.last("c1");
    expect(await me.send(sent)).toMatchObject({ turnId: first.turnId, repeated: true });
    const other = { ...sent, parts: [fileOf(file), fileOf(file)] };
    await expect(me.send(other)).rejects.toMatchObject({ code: "message_conflict" });
    await clock.advance(5_000);
    await expect(me.files.open({ uploadId: file.id })).rejects.toMatchObject({
      code: "conversation_not_found",
    });
    expect(await me.send(sent)).toMatchObject({ turnId: first.turnId, repeated: true });
    expect((await me.files.open({ conversationId: "c1", seq: 2 })).size).toBe(1);
    await expect(me.send({ ...sent, messageId: "m2" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("may name the file of another message, and keeps it when that one is deleted", async () => {
    const { me, clock } = await start({ unsentMs: 1_000, sweepMs: 500 });
    const file = await upload(me, "x", "a.txt");
    await me.send({ conversationId: "c1", message: "One", parts: [fileOf(file)] });
    await me.last("c1");
    await me.send({
      conversationId: "c2",
      message: "Two",
      parts: [{ type: "file", conversationId: "c1", seq: 2 }],
    });
    await me.last("c2");
    await me.remove("c1");
    await clock.advance(5_000);
    expect((await me.files.open({ conversationId: "c2", seq: 2 })).name).toBe("a.txt");
    await me.remove("c2");
    await clock.advance(5_000);
    await expect(me.files.open({ conversationId: "c2", seq: 2 })).rejects.toMatchObject({
      code: "conversation_not_found",
    });
  });

  it("of another owner is refused as one that never was, by its upload and by its message", async () => {
    const { me, runtime, store } = await start();
    const file = await upload(me, "x", "a.txt");
    await me.send({ conversationId: "c1", message: "Mine", parts: [fileOf(file)] });
    await me.last("c1");
    const stranger = runtime.forOwner("stranger");
    const places: SentPart[] = [fileOf(file), { type: "file", conversationId: "c1", seq: 2 }];
    const refusals: unknown[] = [];
    for (const part of [...places, { type: "file", uploadId: "up_never" } as const]) {
      refusals.push(
        await stranger
          .send({ conversationId: "s1", message: "Mine?", parts: [part] })
          .catch((e) => e.message),
      );
    }
    expect(new Set(refusals).size).toBe(1);
    expect(await store.forOwner("stranger").get("s1")).toBeNull();
  });

  it("of more files, or of more bytes, than it may have is refused", async () => {
    const { me } = await start({ messageFiles: 2, messageFileBytes: 10 });
    const small = await upload(me, "x", "a.txt");
    const large = await upload(me, "0123456789", "b.txt");
    const send = (...files: UploadInfo[]) =>
      me.send({ conversationId: "c1", message: "Hi", parts: files.map(fileOf) });
    await expect(send(small, small, small)).rejects.toMatchObject({ code: "too_large" });
    await expect(send(small, large)).rejects.toMatchObject({ code: "too_large" });
    await send(small, small);
  });

  it("waits in the queue with them, and is delivered with them", async () => {
    const { me, held } = await start();
    await me.send({ conversationId: "c1", message: "wait" });
    const file = await upload(me, "x", "a.txt");
    const queued = {
      conversationId: "c1",
      message: "Then this",
      parts: [fileOf(file)],
      mode: "queue",
    } as const;
    await me.queue.add(queued);
    const { messages } = await me.queue.list("c1");
    expect(messages[0]?.text).toBe("Then this\n[a.txt, text/plain, 1 byte]");
    held.open();
    await me.last("c1");
    await expect.poll(async () => (await me.files.open({ conversationId: "c1", seq: 4 })).name).toBe("a.txt");
  });

  it("is exported with its references, which an import keeps where the owner has the bytes", async () => {
    const { me, runtime } = await start();
    const file = await upload(me, "x", "a.txt");
    await me.send({ conversationId: "c1", message: "Look", parts: [fileOf(file)] });
    await me.last("c1");
    const lines: ExportLine[] = [];
    for await (const line of me.exportLines("c1")) lines.push(line);
    await me.importLines(lines, { id: "c2" });
    await me.remove("c1");
    expect((await me.files.open({ conversationId: "c2", seq: 2 })).name).toBe("a.txt");
    const elsewhere = runtime.forOwner("stranger").importLines(lines, { id: "c2" });
    await expect(elsewhere).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("reaches a provider that takes no files as a line that names it", async () => {
    const { me, provider } = await start();
    const file = await upload(me, "x", "a.txt");
    await me.send({ conversationId: "c1", message: "Look", parts: [fileOf(file)] });
    await me.last("c1");
    expect(provider.calls[0]?.params.messages.at(-1)?.content).toMatchObject([
      { type: "text", text: "Look" },
      { type: "text", text: "[a.txt, text/plain, 1 byte] (not shown: this model is shown no files)" },
    ]);
  });
});

describe("content that is given as parts", () => {
  const data = btoa("%PDF-1.4 and more");
  const pdf = { type: "file" as const, mediaType: "image/png", filename: "a.pdf", data };

  it("is kept with references to its files, whose types are those of their bytes", async () => {
    const { me } = await start();
    await me.send({ conversationId: "c1", message: [{ type: "text", text: "Look" }, pdf] });
    await me.last("c1");
    const { chunks } = await me.history({ conversationId: "c1" });
    expect(JSON.stringify(chunks)).not.toContain(data);
    expect(chunks[1]?.chunk).toMatchObject({ file: { seq: 2, name: "a.pdf", mediaType: "application/pdf" } });
    // The same again is the same message: references are compared.
    const again = { conversationId: "c1", messageId: "m1", message: [pdf] };
    const first = await me.send(again);
    expect(await me.send(again)).toMatchObject({ turnId: first.turnId });
  });

  it("may name a file of the owner by its address, and of no other owner", async () => {
    const { me, runtime } = await start();
    await me.send({ conversationId: "c1", message: [pdf] });
    await me.last("c1");
    const named = { type: "file" as const, mediaType: "", url: "/conversations/c1/files/1" };
    await me.send({ conversationId: "c2", message: [named] });
    await me.last("c2");
    const { chunks } = await me.history({ conversationId: "c2" });
    expect(chunks[0]?.chunk).toMatchObject({ file: { name: "a.pdf", mediaType: "application/pdf" } });
    await expect(runtime.forOwner("stranger").send({ message: [named] })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("is refused with too many or too large files, and with what is not base64", async () => {
    const { me } = await start({ messageFiles: 1, messageFileBytes: 10 });
    await expect(me.send({ message: [pdf, pdf] })).rejects.toMatchObject({ code: "too_large" });
    await expect(me.send({ message: [pdf] })).rejects.toMatchObject({ code: "too_large" });
    await expect(me.send({ message: [{ ...pdf, data: "%" }] })).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});
