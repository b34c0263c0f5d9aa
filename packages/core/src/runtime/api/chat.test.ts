import { createMemoryLogStore, createScriptedProvider, hang, text } from "@parley/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../clock.js";
import { createModelCatalog } from "../models.js";
import { createRuntime } from "../runtime.js";

async function ownerOn(answers: Parameters<typeof createScriptedProvider>[0]) {
  const provider = createScriptedProvider(answers);
  const models = createModelCatalog([
    { name: "s/s", provider, providerName: "s", model: "s", contextWindow: 8_000 },
  ]);
  const runtime = await createRuntime({ store: createMemoryLogStore({ clock: systemClock }), models });
  onTestFinished(() => runtime.close());
  return runtime.forOwner("me");
}

describe("a message that is sent and followed in one", () => {
  it("gives the events of its turn, from the first to the seal", async () => {
    const me = await ownerOn([[text("Hel"), text("lo")]]);
    let said = "";
    let last = "";
    for await (const { event } of me.chat({ message: "hi" })) {
      if (event.type === "text-delta") said += event.delta;
      last = event.type;
    }
    expect([said, last]).toEqual(["Hello", "turn-sealed"]);
  });

  it("is refused while it waits in the queue", async () => {
    const me = await ownerOn([[hang()]]);
    const { conversationId } = await me.send({ message: "first" });
    const second = { conversationId, messageId: "second", message: "second" };
    await me.send({ ...second, ifBusy: "queue" });
    const events = me.chat(second)[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({ code: "turn_active" });
    await me.stop(conversationId);
  });
});
