import type { Tool } from "@parley/core";
import { fail, text, toolCall, usage } from "@parley/testing";
import { afterEach, describe, expect, it } from "vitest";
import { startTestServer } from "../test-server.test-support.js";
import { createEventLog } from "./event-log.js";
import { createLogger } from "./logging.js";

const lines: string[] = [];
afterEach(() => lines.splice(0));

const logger = (level: string) => createLogger({ level }, { write: (line: string) => void lines.push(line) });
const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

const broken: Tool = {
  name: "broken",
  execute: () => {
    throw new Error("the secret plan is at /home/ann/plan.txt");
  },
};

describe("the log of events", () => {
  it("names a refused key and a failing tool by code and ids, and quotes neither", async () => {
    const server = await startTestServer({
      tools: [broken],
      eventLog: createEventLog(logger("info")),
      script: () => [
        [toolCall("broken", {}, { id: "call-1" })],
        [text("Done."), usage(1, 1)],
        [fail("provider_auth")],
      ],
    });
    const me = server.runtime.forOwner("local");
    for (const message of ["my diary", "go on"]) {
      await me.send({ conversationId: "c1", message });
      await me.last("c1");
    }
    const ids = { owner: "local", conversationId: "c1", turnId: expect.any(String) };
    expect(logged()).toMatchObject([
      { level: 40, msg: "tool failed", toolName: "broken", toolCallId: "call-1", ...ids },
      {
        level: 50,
        msg: "the provider refused the key",
        code: "provider_auth",
        model: "scripted/one",
        ...ids,
      },
    ]);
    expect(lines.join("")).not.toMatch(/secret plan|diary/);
  });

  it("names a learned window and a takeover", () => {
    const events = createEventLog(logger("info"));
    const takeover = {
      owner: "ann",
      conversationId: "c1",
      turnId: "t1",
      fence: 2,
      outcome: "sealed",
    } as const;
    events.onTakeover(takeover);
    const change = { model: "m", owner: "ann", scope: "owner", from: 100, to: 50, source: "named" } as const;
    events.onWindowChange(change);
    expect(logged()).toMatchObject([takeover, change]);
  });
});

describe("requests", () => {
  it("of probes are logged at debug alone", async () => {
    for (const [level, expected] of [
      ["info", ["GET /me"]],
      ["debug", ["GET /health", "GET /ready", "GET /metrics", "GET /me"]],
    ] as const) {
      lines.splice(0);
      const server = await startTestServer({ logger: logger(level) });
      for (const path of ["/health", "/ready", "/metrics", "/me"]) await server.call("GET", path);
      expect(logged().map(({ route }) => route)).toEqual(expected);
    }
  });
});
