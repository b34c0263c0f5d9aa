import type { FileForm, ProviderFile } from "@parley/core/ports";
import { text } from "@parley/testing";
import type { FileUIPart, UIMessage } from "ai";
import OpenAI6 from "openai";
import OpenAI7 from "openai-7";
import { describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../packages/server/src/test-server.test-support.js";
import { createChat } from "./sdk-chat.js";
import { sdks } from "./sdks.js";

/** The head of a PNG of 640 x 480 pixels. */
const png = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";
const data = btoa(png);
/** More than the body of any other request may have. */
const photo = Buffer.concat([Buffer.from(png, "latin1"), Buffer.alloc(6_000_000, 7)]).toString("base64");
const dataUrl = `data:image/png;base64,${data}`;

async function start(): Promise<TestServer> {
  const server = await startTestServer({ script: () => () => [text("Seen.")] });
  const takesFile = ({ mediaType }: ProviderFile): FileForm =>
    mediaType.startsWith("image/") ? { as: "image", tokens: 100 } : { as: "note", reason: "images only" };
  Object.assign(server.provider, { takesFile });
  return server;
}

/** Returns the images that a call of the model was shown, as base64. */
function imagesOf(server: TestServer, call = -1): unknown[] {
  const messages = server.provider.calls.at(call)?.params.messages ?? [];
  return messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "file" && "data" in part ? [part.data] : [])),
  );
}

async function logOf(server: TestServer, id: string): Promise<string> {
  return JSON.stringify((await server.call("GET", `/conversations/${id}`)).json);
}

async function bytesAt(server: TestServer, path: string): Promise<string> {
  const response = await fetch(`${server.url}${path}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
  return Buffer.from(await response.arrayBuffer()).toString("latin1");
}

describe.each(sdks)("files in useChat of version $version", ({ sdk }) => {
  const open = (server: TestServer, messages?: UIMessage[]) =>
    createChat(sdk, {
      id: "chat",
      transport: new sdk.DefaultChatTransport({ api: `${server.url}/api/chat` }),
      ...(messages === undefined ? {} : { messages }),
    });
  const image: FileUIPart = { type: "file", mediaType: "image/png", filename: "dot.png", url: dataUrl };
  const history = async (server: TestServer) =>
    (await server.call("GET", "/api/chat/chat/messages")).json as UIMessage[];

  it("are stored, shown to the model, and come back with an address", async () => {
    const server = await start();
    const chat = open(server);
    await chat.sendMessage({ text: "What is this?", files: [image] });
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
    expect(imagesOf(server)).toEqual([data]);
    expect(await logOf(server, "chat")).not.toContain(data);
    const [asked] = await history(server);
    const shown = asked?.parts.find((part): part is FileUIPart => part.type === "file");
    expect(shown).toMatchObject({ mediaType: "image/png", filename: "dot.png" });
    expect(await bytesAt(server, shown?.url ?? "")).toBe(png);
  });

  it("may be as large as photos are", async () => {
    const server = await start();
    const chat = open(server);
    await chat.sendMessage({
      text: "And this?",
      files: [{ ...image, url: `data:image/png;base64,${photo}` }],
    });
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
    expect(imagesOf(server)[0] === photo).toBe(true);
  });

  it("may be all of a message", async () => {
    const server = await start();
    const chat = open(server);
    await chat.sendMessage({ files: [image] } as never);
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
    expect(imagesOf(server)).toEqual([data]);
  });

  it("stay when an answer is made again after a reload, and when the message is edited", async () => {
    const server = await start();
    await open(server).sendMessage({ text: "What is this?", files: [image] });
    const chat = open(server, await history(server));
    await chat.regenerate();
    expect([chat.error, imagesOf(server)]).toEqual([undefined, [data]]);
    const reloaded = await history(server);
    const [asked] = reloaded;
    const edited = open(server, reloaded);
    const files = (asked?.parts ?? []).filter((part): part is FileUIPart => part.type === "file");
    await edited.sendMessage({ text: "And now?", files, messageId: asked?.id } as never);
    expect([edited.error, imagesOf(server)]).toEqual([undefined, [data]]);
  });

  it("are refused by an address on the web, which is never fetched", async () => {
    const server = await start();
    const chat = open(server);
    const url = `${server.url}/health`;
    await chat.sendMessage({ text: "What is this?", files: [{ ...image, url }] });
    expect(chat.error?.message).toMatch(/not fetched/);
    expect(server.provider.calls).toHaveLength(0);
  });
});

describe.each([
  { version: "6", Sdk: OpenAI6 },
  { version: "7", Sdk: OpenAI7 as unknown as typeof OpenAI6 },
])("files in the OpenAI SDK of version $version", ({ Sdk }) => {
  const open = (server: TestServer) => new Sdk({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
  const said = (...content: object[]) => [{ role: "user" as const, content }] as never;
  const question = { type: "input_text", text: "What is this?" };

  it("are stored, shown to the model, and come back with an address that can be sent again", async () => {
    const server = await start();
    const client = open(server);
    const conversation = await client.conversations.create({});
    const input = said(
      question,
      { type: "input_image", image_url: dataUrl, detail: "auto" },
      { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,aGk=" },
    );
    await client.responses.create({ model: "one", input, conversation: conversation.id });
    expect(imagesOf(server)).toEqual([data]);
    const { data: items } = await client.conversations.items.list(conversation.id, { order: "asc" });
    expect(JSON.stringify(items)).not.toContain(data);
    const [asked] = items as unknown as {
      content: { type: string; image_url?: string; file_url?: string }[];
    }[];
    expect(asked?.content.map(({ type }) => type)).toEqual(["input_text", "input_image", "input_file"]);
    expect(await bytesAt(server, asked?.content[1]?.image_url ?? "")).toBe(png);
    await client.responses.create({ model: "one", input: said(...(asked?.content ?? [])) });
    expect(imagesOf(server)).toEqual([data]);
    await client.responses.create({ model: "one", input: said(...(asked?.content ?? [])), store: false });
    expect(imagesOf(server)).toEqual([data]);
  });

  it("are shown in a chat completion, also as large as photos are", async () => {
    const server = await start();
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${photo}` } },
    ];
    await open(server).chat.completions.create({
      model: "one",
      messages: [{ role: "user", content }] as never,
    });
    expect(imagesOf(server)[0] === photo).toBe(true);
  });

  it("are refused by an address on the web, which is never fetched", async () => {
    const server = await start();
    const image = { type: "input_image", image_url: `${server.url}/health` };
    await expect(
      open(server).responses.create({ model: "one", input: said(question, image) }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/not fetched/) });
    const unknown = { type: "input_image", image_url: "/conversations/unknown/files/1" };
    await expect(
      open(server).responses.create({ model: "one", input: said(question, unknown) }),
    ).rejects.toMatchObject({ status: 400 });
    expect(server.provider.calls).toHaveLength(0);
  });
});
