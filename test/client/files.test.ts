import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import {
  createUploads,
  fileAddress,
  fileParts,
  queuedText,
  signedFileUrl,
  type UploadableFile,
  type Uploads,
  uploadFile,
} from "../../packages/client/src/files/index.js";
import type { ConversationState } from "../../packages/client/src/state/conversation-state.js";
import { afterwards, isIdle, liveServer, testClient, until } from "./live-server.js";

/** Creates a file of this many bytes, whose pieces are read one by one. */
function fileOf(
  name: string,
  pieces: number,
  pieceBytes = 1_000,
): UploadableFile & { readonly read: () => number } {
  let read = 0;
  return {
    name,
    size: pieces * pieceBytes,
    read: () => read,
    stream() {
      let left = pieces;
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left === 0) return controller.close();
          left -= 1;
          read += pieceBytes;
          controller.enqueue(new Uint8Array(pieceBytes).fill(left));
        },
      });
    },
  };
}

const png = (): UploadableFile =>
  new File([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")], "cat.png") as UploadableFile;

const statuses = (uploads: Uploads) => uploads.getState().map(({ status }) => status);
const settled = (uploads: Uploads) =>
  until(uploads, (all) => all.every(({ status }) => status !== "waiting" && status !== "uploading"));

const filesOf = ({ messages }: ConversationState) =>
  messages.flatMap(({ parts }) =>
    parts.flatMap(({ chunk }) => (chunk.type === "text" ? (chunk.file ?? []) : [])),
  );

describe("files by the client", () => {
  it("are uploaded piece by piece with progress, under the key of the client", async () => {
    const live = await liveServer({ auth: "keys" });
    const client = testClient(live.url, { apiKey: await live.key() });
    const seen: number[] = [];
    const info = await uploadFile(client, fileOf("notes.bin", 5), { onProgress: (sent) => seen.push(sent) });
    expect(info).toMatchObject({ name: "notes.bin", size: 5_000, id: expect.stringMatching(/^up_/) });
    expect(seen).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    const read = await client.call("GET /files/:id", { params: { id: info.id } });
    expect((await read.arrayBuffer()).byteLength).toBe(5_000);
    await expect(uploadFile(testClient(live.url), png())).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("are sent with a message, shown at once, and read by their seq afterwards", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const handle = client.connect().conversation("c1");
    const uploads = createUploads({ client });
    uploads.add([png(), fileOf("notes.bin", 2)]);
    await settled(uploads);
    const files = uploads.take();
    expect(statuses(uploads)).toEqual([]);
    const sent = handle.send("", { files });
    expect(handle.getState().pending).toMatchObject([
      { text: "", files: [{ name: "cat.png" }, { name: "notes.bin" }] },
    ]);
    const before = filesOf(handle.getState());
    expect(before.map((file) => fileAddress("c1", file))).toEqual(files.map(({ id }) => `/files/${id}`));
    await sent;
    const state = await until(
      handle,
      (each) => isIdle(each) && filesOf(each).every(({ seq }) => seq !== undefined),
    );
    const [picture, notes] = filesOf(state);
    expect([picture, notes]).toMatchObject([
      { name: "cat.png", mediaType: "image/png", size: 16 },
      { name: "notes.bin", size: 2_000 },
    ]);
    if (picture === undefined || notes === undefined) throw new Error("there are two files");
    const response = await fetch(live.url + (fileAddress("c1", notes) ?? ""));
    expect((await response.arrayBuffer()).byteLength).toBe(2_000);
    expect(fileParts("c1", state.messages)).toEqual([
      { type: "file", conversationId: "c1", seq: picture.seq },
      { type: "file", conversationId: "c1", seq: notes.seq },
    ]);
  });

  it("have addresses that need no key", async () => {
    const live = await liveServer({ auth: "keys" });
    const client = testClient(live.url, { apiKey: await live.key() });
    const info = await uploadFile(client, png());
    const url = (await signedFileUrl(client, "c1", info)) ?? "";
    const response = await fetch(url);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect((await fetch(live.url + (fileAddress("c1", info) ?? ""))).status).toBe(401);
  });

  it("wait in the queue with their message, whose text can be edited without their lines", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const handle = client.connect().conversation("c1");
    await handle.send("wait");
    const files = [await uploadFile(client, png())];
    await handle.send("Look at this", { files, ifBusy: "queue", messageId: "m2" });
    const { queue } = await until(handle, (state) => state.queue.messages.length === 1);
    const [queued] = queue.messages;
    if (queued === undefined) throw new Error("one waits");
    expect(queued).toMatchObject({
      text: "Look at this\n[cat.png, image/png, 16 bytes]",
      files: [{ name: "cat.png" }],
    });
    expect(queuedText(queued)).toBe("Look at this");
    await handle.editQueued("m2", { text: "Look again" });
    live.at.open();
    const state = await until(handle, (each) => isIdle(each) && filesOf(each)[0]?.seq !== undefined);
    const message = state.messages.find(({ id }) => id === "m2");
    expect(message?.parts.map(({ chunk }) => (chunk.type === "text" ? chunk.text : ""))).toEqual([
      "Look again",
      "[cat.png, image/png, 16 bytes]",
    ]);
  });

  it("are given up when they are removed, and dropped at the server when they are there", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const uploads = createUploads({ client });
    let isCanceled = false;
    const endless: UploadableFile = {
      name: "endless",
      stream: () =>
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
          cancel() {
            isCanceled = true;
          },
        }),
    };
    uploads.add([endless]);
    const [running] = await until(uploads, ([first]) => (first?.sentBytes ?? 0) > 0);
    uploads.remove(running?.key ?? "");
    expect(statuses(uploads)).toEqual([]);
    await expect.poll(() => isCanceled).toBe(true);

    uploads.add([png()]);
    const [ready] = await settled(uploads);
    uploads.remove(ready?.key ?? "");
    const id = ready?.info?.id ?? "";
    await expect.poll(async () => (await fetch(`${live.url}/files/${id}`)).status).toBe(404);
  });

  it("that failed are uploaded again from their beginning", async () => {
    const live = await liveServer();
    let isBroken = true;
    const broken = createServer((request) => request.socket.destroy());
    await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
    afterwards(() => void broken.close());
    const elsewhere = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
    const client = testClient(live.url, {
      fetch: (url, init) => fetch(isBroken ? String(url).replace(live.url, elsewhere) : url, init),
    });
    const uploads = createUploads({ client });
    uploads.add([fileOf("notes.bin", 3)]);
    const [failed] = await settled(uploads);
    expect(failed).toMatchObject({ status: "failed", error: { code: "network" }, retryable: true });
    isBroken = false;
    uploads.retry(failed?.key ?? "");
    const [ready] = await until(uploads, ([first]) => first?.status === "ready");
    expect(ready).toMatchObject({ sentBytes: 3_000, info: { size: 3_000 } });
    expect(ready?.error).toBeUndefined();
  });

  it("beyond the bounds of the server are refused before they are sent", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const { files } = await client.request("GET /me");
    expect(files).toEqual({ fileBytes: 104_857_600, messageFiles: 20, messageFileBytes: 209_715_200 });
    const bounds = { fileBytes: 3_000, messageFiles: 2, messageFileBytes: 4_000 };
    const uploads = createUploads({ client, bounds: () => bounds });
    const large = fileOf("large.bin", 4);
    uploads.add([large, fileOf("a.bin", 3), fileOf("b.bin", 2), fileOf("c.bin", 1), fileOf("d.bin", 0)]);
    const all = await settled(uploads);
    expect(all.map(({ error, status }) => error?.message ?? status)).toEqual([
      "The file is larger than 2.9 KB, the limit per file",
      "ready",
      "The files of a message can have 3.9 KB together",
      "ready",
      "The limit of files per message is 2",
    ]);
    expect(large.read()).toBe(0);
  });

  it("of a draft that have expired say so, and are not sent", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const info = await uploadFile(client, png());
    const uploads = createUploads({ client, restored: [{ ...info, expiresAt: 1 }, info] });
    expect(statuses(uploads)).toEqual(["expired", "ready"]);
    expect(uploads.take()).toEqual([info]);
  });
});
