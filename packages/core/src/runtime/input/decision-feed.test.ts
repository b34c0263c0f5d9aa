import type { InputResponseEntry } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../clock.js";
import { DecisionFeed } from "./decision-feed.js";

function response(requestId: string): InputResponseEntry {
  const about = { toolCallId: "k", toolName: "pay", decision: "allow", via: "http" };
  return { type: "input-response", requestId, ...about };
}

function feedOf(read: () => Promise<readonly InputResponseEntry[]>): DecisionFeed {
  const onError = (error: unknown) => {
    throw error;
  };
  return new DecisionFeed({ read, clock: systemClock, pollMs: 0, onError });
}

describe("the feed of decisions", () => {
  it("reads what was recorded before somebody listened, when somebody does", async () => {
    let reads = 0;
    const feed = feedOf(async () => {
      reads += 1;
      return [response("a")];
    });
    feed.look();
    expect(reads).toBe(0);
    const received = await new Promise((resolve) => feed.listen(resolve));
    expect([received, reads]).toEqual([response("a"), 1]);
  });

  it("does not read without a notice that there is something", async () => {
    let reads = 0;
    const feed = feedOf(async () => {
      reads += 1;
      return [];
    });
    feed.listen(() => {})();
    await Promise.resolve();
    expect(reads).toBe(0);
  });

  it("hands each response over once, and reads again for one that came while it read", async () => {
    const recorded = [response("a")];
    let goOn: () => void = () => {};
    let isFirst = true;
    const feed = feedOf(async () => {
      const found = [...recorded];
      if (isFirst) await new Promise<void>((resolve) => (goOn = resolve));
      isFirst = false;
      return found;
    });
    const received: string[] = [];
    const both = new Promise<void>((resolve) => {
      feed.listen(({ requestId }) => {
        received.push(requestId);
        if (received.length === 2) resolve();
      });
    });
    feed.look();
    recorded.push(response("b"));
    feed.look();
    goOn();
    await both;
    expect(received).toEqual(["a", "b"]);
  });
});
