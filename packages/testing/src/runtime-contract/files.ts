import { createHash } from "node:crypto";
import type { OpenedFile } from "@parley/core/runtime";
import type { SentPart, UploadInfo } from "@parley/wire";
import { check, checkEqual } from "../contract-case.js";
import { gate } from "../gate.js";
import { pause, text, toolCall } from "../provider/script.js";
import { adder } from "./turns/turns.js";
import { only, type RuntimeTopicCase, type TestNode, type World } from "./world.js";

async function upload(world: World, node: TestNode, content: string, name: string): Promise<UploadInfo> {
  const hash = createHash("sha256");
  async function* bytes() {
    yield new TextEncoder().encode(content);
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

/** Files: sent on one node, read on another, and gone when nothing refers to them. */
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
        "what is told of it",
      );
      const log = await world.log(node, conversationId);
      for (const follow of follows) {
        await world.until(() => follow.has("turn-sealed", receipt.turnId), "the turn is over");
        await world.until(() => follow.state.chunks.length === log.length, "the rows are there");
        checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what a client has folded");
      }
      const replayed = await world.turnEvents(other, conversationId, receipt.turnId);
      checkEqual(only(replayed, "user-message"), only(events, "user-message"), "what is told of it later");
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
        "what is told of it",
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
];
