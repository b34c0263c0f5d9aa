import { createHash } from "node:crypto";
import { type Tool, toolOutput } from "@parley/core";
import type { FileForm, ProviderFile } from "@parley/core/ports";
import type { FileDeriver, OpenedFile } from "@parley/core/runtime";
import type { SentPart, UploadInfo } from "@parley/wire";
import { check, checkEqual } from "../contract-case.js";
import { gate } from "../gate.js";
import { part, pause, text, toolCall } from "../provider/script.js";
import { createScriptedProvider } from "../provider/scripted-provider.js";
import { adder } from "./turns/turns.js";
import { only, type RuntimeTopicCase, type TestNode, type World } from "./world.js";

async function upload(world: World, node: TestNode, content: string, name: string): Promise<UploadInfo> {
  const hash = createHash("sha256");
  async function* bytes() {
    yield Uint8Array.from(content, (each) => each.charCodeAt(0));
  }
  const file = {
    name,
    bytes: bytes(),
    hash: { update: (piece: Uint8Array) => void hash.update(piece), digest: () => hash.digest("hex") },
  };
  return world.pass(node.me.files.upload(file), "an upload");
}

async function contentOf(file: OpenedFile): Promise<string> {
  let content = "";
  for await (const piece of file.read(0, file.size)) content += new TextDecoder().decode(piece);
  return content;
}

const fileOf = ({ id }: UploadInfo): SentPart => ({ type: "file", uploadId: id });

/** The head of an image of 640 x 480 pixels, as Latin-1 text. */
const png = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0";

/** Cases of files: sent on one node, read on another, and removed when nothing refers to them. */
export const fileCases: RuntimeTopicCase[] = [
  {
    name: "a message with files folds to the log on every node, and its files are read on each",
    async run(world) {
      const node = await world.node();
      const other = await world.node();
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follows = [await world.joined(node, conversationId), await world.joined(other, conversationId)];
      const file = await upload(world, node, "# Notes", "notes.md");
      const parts: SentPart[] = [fileOf(file), { type: "text", text: "Well?" }];
      const { receipt, events } = await world.turn(node, "Look:", { conversationId, parts });
      checkEqual(
        only(events, "user-message").text,
        "Look:\n[notes.md, text/markdown, 7 bytes]\nWell?",
        "what is published of it",
      );
      const log = await world.log(node, conversationId);
      for (const follow of follows) {
        await world.until(() => follow.has("turn-sealed", receipt.turnId), "the turn is over");
        await world.until(() => follow.state.chunks.length === log.length, "the rows are there");
        checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what a client has folded");
      }
      const replayed = await world.turnEvents(other, conversationId, receipt.turnId);
      checkEqual(
        only(replayed, "user-message"),
        only(events, "user-message"),
        "what is published of it later",
      );
      const opened = await other.me.files.open({ conversationId, seq: 2 });
      checkEqual(
        [opened.name, await contentOf(opened)],
        ["notes.md", "# Notes"],
        "the file on the other node",
      );
      const { token } = await node.me.files.sign({ conversationId, seq: 2 });
      checkEqual(
        await contentOf(await other.runtime.openSignedFile(token)),
        "# Notes",
        "by its signed address",
      );
    },
  },
  {
    name: "a message with files that joins a running turn brings them along",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: [[toolCall("add", { a: 1, b: 2 }), pause(at)], [text("Both.")]],
        tools: [adder],
      });
      const { conversationId, turnId } = await world.start(node);
      await world.pass(at.reached, "the model has called");
      const file = await upload(world, node, "x", "a.txt");
      const steer = { conversationId, message: "And this", parts: [fileOf(file)], mode: "steer" as const };
      await world.pass(node.me.queue.add(steer), "a message waits");
      at.open();
      const events = await world.turnEvents(node, conversationId, turnId);
      checkEqual(
        only(events, "steering").text,
        "And this\n[a.txt, text/plain, 1 byte]",
        "what is published of it",
      );
      const log = await world.log(node, conversationId);
      const found = log.find(({ chunk }) => chunk.type === "text" && chunk.file !== undefined);
      const opened = await node.me.files.open({ conversationId, seq: found?.seq ?? 0 });
      checkEqual(opened.name, "a.txt", "the file");
    },
  },
  {
    name: "files go when nothing refers to them any more, whichever node looks",
    async run(world) {
      const files = { limits: { sweepMs: 20 } };
      const node = await world.node({ files });
      await world.node({ files });
      const conversationId = world.id("c");
      const file = await upload(world, node, "x", "a.txt");
      await world.turn(node, "Look", { conversationId, parts: [fileOf(file)] });
      await node.me.files.drop(file.id);
      await world.advance(100);
      checkEqual(
        (await node.me.files.open({ conversationId, seq: 2 })).name,
        "a.txt",
        "a file that was sent",
      );
      await node.me.remove(conversationId);
      let bytes = -1;
      for (let look = 0; bytes !== 0; look += 1) {
        check(look < 500, "the bytes are collected");
        await world.advance(20);
        bytes = (await node.me.files.usage()).bytes;
      }
    },
  },
  {
    name: "a model that does not take a document is given its text, and the manifest says so",
    async run(world) {
      const provider = createScriptedProvider([text("Nice.")]);
      const takesFile = (): FileForm => ({ as: "note", reason: "images only" });
      const deriver: FileDeriver = {
        canDerive: (variant, { mediaType }) => variant === "text" && mediaType === "application/pdf",
        derive: async (_variant, { name }) => {
          if (name === "broken.pdf") throw new Error("not now");
          return new TextEncoder().encode("a".repeat(50));
        },
        close: async () => {},
      };
      const files = { deriver, limits: { shownCharacters: 40 } };
      const node = await world.node({ provider: Object.assign(provider, { takesFile }), files });
      const report = await upload(world, node, "%PDF-1.4 one", "report.pdf");
      const broken = await upload(world, node, "%PDF-1.4 two", "broken.pdf");
      const { receipt } = await world.turn(node, "Look:", { parts: [fileOf(report), fileOf(broken)] });
      const shown = provider.calls[0]?.params.messages
        .at(-1)
        ?.content.map((part) => "text" in part && part.text);
      checkEqual(
        shown,
        [
          "Look:",
          `[report.pdf, application/pdf, 12 bytes]\n\n${"a".repeat(40)}\n[10 more characters are left out]`,
          "[broken.pdf, application/pdf, 12 bytes] (not shown: images only)",
        ],
        "what the model is shown",
      );
      const detail = await world.pass(node.me.turn(receipt.conversationId, receipt.turnId), "the turn");
      checkEqual(
        detail.providerCalls[0]?.manifest?.files?.map(({ name, as }) => [name, as]),
        [
          ["report.pdf", "text"],
          ["broken.pdf", "note"],
        ],
        "what the manifest names",
      );
    },
  },
  {
    name: "a model gets the files that it takes and a note of the others, and a manifest names each",
    async run(world) {
      const provider = createScriptedProvider([text("Nice.")]);
      const takesFile = ({ mediaType }: ProviderFile): FileForm =>
        mediaType === "image/png" ? { as: "image", tokens: 7_000 } : { as: "note", reason: "images only" };
      const node = await world.node({ provider: Object.assign(provider, { takesFile }) });
      const image = await upload(world, node, png, "cat.png");
      const notes = await upload(world, node, "# Notes", "notes.md");
      const parts = [fileOf(image), fileOf(notes)];
      const { receipt } = await world.turn(node, "Look:", { parts });
      const { conversationId } = receipt;
      const [call] = provider.calls;
      checkEqual(
        call?.params.messages.at(-1)?.content,
        [
          { type: "text", text: "Look:" },
          { type: "file", mediaType: "image/png", filename: "cat.png", data: btoa(png) },
          { type: "text", text: "[notes.md, text/markdown, 7 bytes] (not shown: images only)" },
        ],
        "what the model is shown",
      );
      const detail = await world.pass(node.me.turn(conversationId, receipt.turnId), "the turn");
      const [record] = detail.providerCalls;
      checkEqual(
        record?.manifest?.files,
        [
          { seq: 2, name: "cat.png", mediaType: "image/png", size: png.length, as: "image" },
          {
            seq: 3,
            name: "notes.md",
            mediaType: "text/markdown",
            size: 7,
            as: "note",
            detail: "images only",
          },
        ],
        "the files of the manifest",
      );
      check((record?.manifest?.estimatedTokens ?? 0) > 7_000, "a file counts by the rule of its provider");
      const chunk = (await world.log(node, conversationId)).find(({ seq }) => seq === 2)?.chunk;
      checkEqual(chunk?.type === "text" && [chunk.file?.width, chunk.file?.height], [640, 480], "its pixels");
    },
  },
  {
    name: "files that a model and a tool return are stored, referred to, and shown to the next model",
    async run(world) {
      const data = btoa(png);
      const camera: Tool = {
        name: "camera",
        execute: () =>
          toolOutput("Taken.", false, [
            {
              mediaType: "image/png",
              data: Uint8Array.from(png, (each) => each.charCodeAt(0)),
              name: "shot.png",
            },
          ]),
      };
      const provider = createScriptedProvider([
        [toolCall("camera")],
        [part({ type: "file", mediaType: "image/png", data }), text("Drawn.")],
        [text("Seen.")],
      ]);
      const takesFile = (): FileForm => ({ as: "image", tokens: 100 });
      const node = await world.node({
        provider: Object.assign(provider, { takesFile }),
        tools: [camera as Tool<never>],
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { receipt } = await world.turn(node, "Draw", { conversationId });
      const log = await world.log(node, conversationId);
      check(!JSON.stringify(log).includes(data), "the log holds no bytes");
      const files = log.flatMap(({ chunk, seq }) =>
        chunk.type === "text" && chunk.file !== undefined ? [{ seq, ...chunk.file }] : [],
      );
      checkEqual(
        files.map(({ name, mediaType, size, width }) => [name, mediaType, size, width]),
        [
          ["shot.png", "image/png", png.length, 640],
          ["file.png", "image/png", png.length, 640],
        ],
        "the files of the log",
      );
      for (const { seq } of files) {
        const opened = await world.pass(node.me.files.open({ conversationId, seq }), "a file");
        checkEqual(opened.size, png.length, "a stored file");
      }
      await world.until(() => follow.has("turn-sealed", receipt.turnId), "the turn is over");
      await world.until(() => follow.state.chunks.length === log.length, "the rows are there");
      checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what a client has folded");
      await world.turn(node, "And?", { conversationId });
      const shown = provider.calls.map(({ params }) =>
        params.messages.flatMap(({ content }) =>
          content.filter((each) => each.type === "file" && "data" in each && each.data === data),
        ),
      );
      checkEqual(
        shown.map(({ length }) => length),
        [0, 1, 2],
        "the files that each call was shown",
      );
    },
  },
];
