import { describe, expect, it } from "vitest";
import { systemClock } from "../clock.js";
import { createUuidV7Factory } from "../messages/ids.js";
import { FrameFold } from "../testing/fold-frames.js";
import {
  checkEventOrder,
  createMemoryLogStore,
  createMemoryWake,
  createScriptedProvider,
  gate,
  pause,
  text,
  toolCall,
  usage,
} from "../testing/index.js";
import { createModelCatalog, createRuntime } from "./index.js";

describe("smoke", () => {
  it("runs a turn with a tool", async () => {
    const provider = createScriptedProvider([
      [text("Let me look. ", { size: 3 }), toolCall("add", { a: 1, b: 2 }), usage(10, 5)],
      [text("It is 3.", { size: 2 }), usage(20, 6)],
    ]);
    const store = createMemoryLogStore({ clock: systemClock });
    const runtime = await createRuntime({
      store,
      wake: createMemoryWake(),
      ids: createUuidV7Factory(),
      models: createModelCatalog([
        { name: "test/one", provider, providerName: "scripted", model: "one", contextWindow: 10_000 },
      ]),
      tools: [
        {
          name: "add",
          execute: (input: { a: number; b: number }, { output }) => {
            output("adding");
            return input.a + input.b;
          },
        },
      ],
    });
    const me = runtime.forOwner("me");
    const receipt = await me.send({ conversationId: "c1", message: "what is 1+2?", messageId: "m1" });
    const events = [];
    for await (const { event } of me.events("c1", receipt.turnId ?? "")) events.push(event);
    console.log(events.map((e) => JSON.stringify(e)).join("\n"));
    expect(checkEventOrder(events)).toEqual([]);
    const history = await me.history({ conversationId: "c1" });
    console.log(JSON.stringify(history, null, 1).slice(0, 3000));
    const fold = new FrameFold();
    const sub = me.subscribe("c1", "0");
    const it = sub[Symbol.asyncIterator]();
    fold.apply((await it.next()).value);
    fold.apply((await it.next()).value);
    console.log(JSON.stringify(fold.state));
    sub.close();
    await runtime.close();
  });
});
