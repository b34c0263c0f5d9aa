import { describe, expect, it } from "vitest";
import type {
  AgentEvent,
  Chunk,
  Cursor,
  StepId,
  SurfaceSpec,
  WsClientMessage,
  WsServerMessage,
} from "./index.js";

// Each switch below names every member of its union and nothing else: adding, renaming or removing a member
// stops this file from compiling.

function describeChunk(chunk: Chunk): string {
  switch (chunk.type) {
    case "text":
    case "thinking":
    case "system":
      return chunk.text;
    case "tool-call":
      return chunk.argumentsText ?? JSON.stringify(chunk.input);
    case "tool-result":
      return chunk.content;
    case "error":
      return chunk.message;
    case "source":
      return chunk.title ?? chunk.url ?? "source";
    case "data":
      return JSON.stringify(chunk.data);
    default:
      return chunk satisfies never;
  }
}

/** Returns the turn that an event belongs to. Only `status` is outside of turns. */
function turnOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "status":
      return undefined;
    case "turn-start":
    case "user-message":
    case "text-delta":
    case "reasoning-delta":
    case "tool-call":
    case "tool-result":
    case "tool-output":
    case "usage":
    case "step-complete":
    case "error":
    case "done":
    case "turn-sealed":
    case "steering":
    case "input-request":
    case "input-response":
    case "output-invalid":
    case "turn-progress":
      return event.turnId;
    default:
      return event satisfies never;
  }
}

function targetOf(message: WsClientMessage): string | undefined {
  switch (message.type) {
    case "chat.send":
    case "chat.subscribe":
    case "chat.unsubscribe":
    case "chat.queue":
    case "chat.stop":
    case "chat.respond":
      return message.conversationId;
    case "subscribe":
    case "unsubscribe":
      return message.surfaceId;
    case "ping":
      return undefined;
    default:
      return message satisfies never;
  }
}

/** Returns the cursor that a client keeps after a message, if the message moves it. */
function cursorOf(message: WsServerMessage): Cursor | undefined {
  switch (message.type) {
    case "chat.delta":
    case "chat.snapshot":
    case "chat.chunks":
      return message.cursor;
    case "chat.reset":
    case "chat.receipt":
    case "chat.responded":
    case "chat.error":
    case "conversation.statusChanged":
    case "conversation.updated":
    case "conversation.open":
    case "conversation.compacted":
    case "conversation.removed":
    case "catalog":
    case "surface":
    case "update":
    case "error":
    case "pong":
      return undefined;
    default:
      return message satisfies never;
  }
}

describe("the unions of the wire", () => {
  const conversationId = "conversation-1";
  const turnId = "turn-1";

  it("distinguish chunks by type", () => {
    const call: Chunk = {
      type: "tool-call",
      toolCallId: "call-1",
      toolName: "add",
      input: { a: 1, b: 2 },
      argumentsText: '{ "b": 2.0, "a": 1 }',
      stepId: "turn-1/0" as StepId,
      providerMetadata: { example: { itemId: "item-1" } },
    };
    const file: Chunk = {
      type: "text",
      text: "[plot.png, image/png]",
      inline: { mediaType: "image/png", filename: "plot.png", data: "AAAA" },
    };
    const source: Chunk = { type: "source", id: "source-1", url: "https://example.org/" };
    const data: Chunk = { type: "data", data: { celsius: 21 } };
    expect([call, file, source, data].map(describeChunk)).toEqual([
      '{ "b": 2.0, "a": 1 }',
      "[plot.png, image/png]",
      "https://example.org/",
      '{"celsius":21}',
    ]);
  });

  it("ask little of the newer chunks", () => {
    const least: readonly Chunk[] = [{ type: "source" }, { type: "data", data: null }];
    expect(least.map(describeChunk)).toEqual(["source", "null"]);
  });

  it("distinguish events by type", () => {
    const steering: AgentEvent = {
      type: "steering",
      conversationId,
      turnId,
      text: "In Lisbon.\n\nAnd in Porto.",
      messageIds: ["message-2", "message-3"],
      messages: [
        { messageId: "message-2", text: "In Lisbon." },
        { messageId: "message-3", text: "And in Porto." },
      ],
    };
    expect(turnOf(steering)).toBe(turnId);
    expect(turnOf({ type: "status", conversationId, status: "idle" })).toBeUndefined();
  });

  it("distinguish a client's messages by type", () => {
    expect(targetOf({ type: "chat.send", message: "Hello" })).toBeUndefined();
    expect(targetOf({ type: "chat.queue", conversationId, text: "Wait", mode: "queue" })).toBe(
      conversationId,
    );
    expect(targetOf({ type: "subscribe", surfaceId: "message-queue", conversationId })).toBe("message-queue");
  });

  it("distinguish a server's messages by type", () => {
    const cursor = "4~turn-1~1~7" as Cursor;
    expect(cursorOf({ type: "chat.chunks", conversationId, chunks: [], cursor })).toBe(cursor);
    expect(cursorOf({ type: "chat.reset", conversationId, turnId })).toBeUndefined();
    const spec: SurfaceSpec = {
      id: "message-queue",
      region: "composer",
      title: "Queue",
      fields: [{ kind: "custom", rendererId: "message-queue", payload: { messages: [], paused: true } }],
    };
    const update = { surfaceId: spec.id, conversationId, spec };
    expect(cursorOf({ type: "update", conversationId, spec, update })).toBeUndefined();
  });
});
