import type { Writable } from "node:stream";
import type { Cursor, WsServerMessage } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as ws from "ws";
import { arrayFrame, frameBytes, jsonBytes, sseBytes, textFrame } from "./frame-bytes.js";
import { concatBytes } from "./join-bytes.js";

/** The reading half of the socket library, which its types leave out. */
const { Receiver } = ws as unknown as {
  readonly Receiver: new (options: { isServer: boolean }) => Writable;
};

/** Returns what the socket library reads from these bytes. */
function readFrames(bytes: Buffer): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const texts: string[] = [];
    const receiver = new Receiver({ isServer: false });
    receiver.on("message", (data: Buffer) => texts.push(String(data)));
    receiver.on("error", reject);
    receiver.write(bytes);
    receiver.end(() => setImmediate(() => resolve(texts)));
  });
}

const message: WsServerMessage = {
  type: "chat.delta",
  event: { type: "text-delta", conversationId: "c1", turnId: "t1", delta: "ä\n\u2028 text" },
  cursor: "1~t1~1~7" as Cursor,
};

describe("a frame", () => {
  it("is what the socket library reads, for any text of any length", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 300 }), async (text) => {
        expect(await readFrames(textFrame(text))).toEqual([text]);
      }),
    );
    for (const length of [0, 125, 126, 127, 65_535, 65_536, 70_000]) {
      expect(await readFrames(textFrame("x".repeat(length)))).toEqual(["x".repeat(length)]);
    }
  });

  it("can be followed by others in the same write", async () => {
    const frames = ["one", "x".repeat(200), "three"].map(textFrame);
    expect(await readFrames(concatBytes(frames))).toEqual(["one", "x".repeat(200), "three"]);
    expect(concatBytes(frames)).toBe(concatBytes([...frames]));
  });

  it("holds an array where several messages share it", async () => {
    const [text] = await readFrames(arrayFrame([jsonBytes(message), jsonBytes({ type: "pong" })]));
    expect(JSON.parse(text ?? "")).toEqual([message, { type: "pong" }]);
  });

  it("is made once per message", () => {
    const other: WsServerMessage = { type: "pong" };
    const first = frameBytes(message);
    frameBytes(other);
    expect(frameBytes(message)).toBe(first);
    expect(frameBytes({ ...message })).not.toBe(first);
  });
});

describe("a server-sent event", () => {
  it("has its name, its cursor as id, and one line of data", () => {
    const lines = String(sseBytes(message as never)).split("\n");
    expect(lines.slice(0, 2)).toEqual(["event: delta", "id: 1~t1~1~7"]);
    expect(JSON.parse(lines[2]?.slice("data: ".length) ?? "")).toEqual(message);
    expect(lines.slice(3)).toEqual(["", ""]);
  });

  it("has no id where there is no cursor", () => {
    const reset = { type: "chat.reset", conversationId: "c1", turnId: "t1" } as const;
    expect(String(sseBytes(reset))).toBe(`event: reset\ndata: ${JSON.stringify(reset)}\n\n`);
  });
});
