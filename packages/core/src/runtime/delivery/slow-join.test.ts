import {
  createFaultyStore,
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  gate,
  pause,
  settle,
  text,
} from "@parley/testing";
import type { AgentEvent } from "@parley/wire";
import { expect, it } from "vitest";
import { createModelCatalog, createRuntime } from "../index.js";

/**
 * Runs a turn of one answer, with a subscriber without a cursor whose first read of the store takes longer than the
 * turn.
 */
async function joinSlowly(options: { readonly startsFirst: boolean }): Promise<AgentEvent[]> {
  const clock = createManualClock();
  const { store, faults } = createFaultyStore(createMemoryLogStore({ clock }));
  const at = gate();
  const provider = createScriptedProvider([[text("One "), pause(at), text("two.")]]);
  const models = createModelCatalog([
    { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 10_000 },
  ]);
  const runtime = await createRuntime({ store, clock, models });
  const me = runtime.forOwner("o");
  await me.create({ id: "c" });
  const events: AgentEvent[] = [];
  const send = async () => {
    await me.send({ conversationId: "c", message: "Hi" });
    await at.reached;
  };
  if (options.startsFirst) await send();
  const read = faults.hold("get");
  me.attach("c", undefined, {
    onFrame: (frame) => void (frame.type === "chat.delta" && events.push(frame.event)),
    onEnd() {},
  });
  await read.reached;
  if (!options.startsFirst) await send();
  at.open();
  await clock.advance(1_000);
  read.open();
  await settle();
  const closed = runtime.close();
  await clock.advance(1_000);
  await closed;
  return events;
}

it.each([
  ["began", { startsFirst: false }],
  ["was running", { startsFirst: true }],
])(
  "gives a subscriber without a cursor every event of a turn that %s and ended meanwhile",
  async (_, options) => {
    const events = await joinSlowly(options);
    const types = events.map(({ type }) => type).filter((type) => type !== "status");
    for (const once of ["user-message", "turn-start", "done", "turn-sealed"]) {
      expect(
        types.filter((type) => type === once),
        once,
      ).toHaveLength(1);
    }
    expect(types[0]).toBe("user-message");
    const shown = events.flatMap((event) => (event.type === "text-delta" ? [event.delta] : []));
    expect(shown.join("")).toBe("One two.");
  },
);
