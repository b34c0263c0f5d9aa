// The overhead of the turn loop, the engine and the runtime per delta of an answer, over a bare async
// iterator.
import { setImmediate } from "node:timers/promises";

const PIECE = "some text ";

/**
 * Creates a provider that yields `deltas` pieces of text as fast as they are read. In the middle of an answer
 * it waits for the event loop once, as every provider does that reads from a network: timers are due then,
 * and the collector's background work finds an answer in progress, as in a working server.
 */
function createProvider(messages, deltas) {
  return {
    complete: () => Promise.reject(new Error("not used")),
    async completeStream() {
      return messages.createProviderStream(async ({ write }) => {
        let text = "";
        for (let n = 0; n < deltas; n += 1) {
          text += PIECE;
          const wait = write(new messages.TextDelta(PIECE, text, 0));
          if (wait !== undefined) await wait;
          if (n === deltas >> 1) await setImmediate();
        }
        const message = { role: "assistant", content: [{ type: "text", text }] };
        const usage = { inputTokens: 10, outputTokens: deltas };
        write({
          type: "done",
          result: { id: "r1", createdAt: new Date(), message, usage, finishReason: "stop" },
        });
      });
    },
  };
}

const params = { metadata: { provider: "bench", model: "one" } };

/** The limit: the same pieces through one async iterator, summed. */
async function* bareIterator(deltas) {
  for (let n = 0; n < deltas; n += 1) yield PIECE;
}

/** Runs answers of `deltas` pieces until `units` pieces have passed. */
function rounds(deltas, one) {
  return async (units) => {
    const answers = units / deltas;
    let characters = 0;
    for (let n = 0; n < answers; n += 1) characters += await one(deltas, n);
    return { characters };
  };
}

const loadCore = async () => ({
  messages: await import("@parley/core/messages"),
  turn: await import("@parley/core/turn"),
});

const loop = async ({ messages, turn }, deltas) => {
  let characters = 0;
  const events = turn.runTurn({
    conversationId: "c1",
    turnId: "t1",
    provider: createProvider(messages, deltas),
    providerParams: params,
    userMessages: [],
    context: async () => ({ messages: [] }),
    sink: { commitStep: async () => ({}) },
  });
  for await (const event of events) if (event.type === "text-delta") characters += event.delta.length;
  return characters;
};

const engineTurn = async ({ messages, core }, deltas, n) => {
  const store = new core.InMemoryConversationStore();
  const conversation = await store.createConversation({ id: `c${n}` });
  const engine = new core.DefaultConversationEngine({
    store,
    historyBuilder: new core.RecentNTurnsHistoryBuilder({ maxTurns: 5 }),
  });
  const running = await engine.runStreamingTurn({
    conversationId: conversation.id,
    userMessages: [
      {
        id: `m${n}`,
        conversationId: conversation.id,
        role: "user",
        createdAt: new Date(),
        content: [{ type: "text", text: "go" }],
      },
    ],
    provider: createProvider(messages, deltas),
    providerParams: params,
  });
  let characters = 0;
  for await (const event of running) if (event.type === "delta") characters += event.textDelta.length;
  return characters;
};

/** Opens a runtime on the memory store, with one counting subscriber. */
async function openRuntime({ messages, runtime, testing, clock }, deltas) {
  const node = await runtime.createRuntime({
    store: testing.createMemoryLogStore({ clock: clock.systemClock }),
    wake: testing.createMemoryWake(),
    models: runtime.createModelCatalog([
      {
        name: "bench/one",
        provider: createProvider(messages, deltas),
        providerName: "bench",
        model: "one",
        contextWindow: 100_000_000,
      },
    ]),
    limits: { subscriberFrames: 1_000_000 },
  });
  const owner = node.forOwner("bench");
  let made = 0;
  const one = async () => {
    const conversationId = `c${process.pid}-${made++}`;
    await owner.create({ id: conversationId });
    let characters = 0;
    await new Promise((resolve, reject) => {
      const leave = owner.attach(conversationId, undefined, {
        onFrame(frame) {
          if (frame.type !== "chat.delta") return;
          if (frame.event.type === "text-delta") characters += frame.event.delta.length;
          if (frame.event.type === "turn-sealed") {
            leave();
            resolve();
          }
        },
        onEnd: reject,
      });
      owner.send({ conversationId, message: "go" }).catch(reject);
    });
    return characters;
  };
  return { one, close: () => node.close() };
}

export const scenario = {
  name: "turn-loop",
  title: "one delta of an answer, from the provider's stream to its readers",
  unit: "delta",
  cases: [
    {
      name: "answers of 5,000 deltas (50 KB)",
      units: 500_000,
      quickUnits: 100_000,
      rounds: 9,
      warmUpRounds: 30,
      options: { deltas: 5_000 },
    },
    {
      // Here the cost of a turn itself (admission, window, manifest, seal) is shared by few deltas.
      name: "answers of 1,000 deltas (10 KB)",
      units: 250_000,
      // As many as in a whole run: code that runs once per turn is compiled only after thousands of turns.
      quickUnits: 250_000,
      rounds: 9,
      warmUpRounds: 40,
      options: { deltas: 1_000 },
    },
    {
      name: "answers of 100,000 deltas (1 MB)",
      units: 200_000,
      quickUnits: 100_000,
      rounds: 9,
      warmUpRounds: 20,
      options: { deltas: 100_000 },
    },
  ],
  contestants: [
    {
      name: "bare async iterator",
      kind: "limit",
      open: ({ options }) =>
        rounds(options.deltas, async (deltas) => {
          let characters = 0;
          for await (const piece of bareIterator(deltas)) characters += piece.length;
          // After the pieces: among them it would add to the cost of each piece.
          await setImmediate();
          return characters;
        }),
    },
    {
      name: "provider stream",
      kind: "ours",
      load: loadCore,
      open: ({ lib, options }) =>
        rounds(options.deltas, async (deltas) => {
          let characters = 0;
          const stream = await createProvider(lib.messages, deltas).completeStream();
          for await (const event of stream) if (event.type === "delta") characters += event.textDelta.length;
          return characters;
        }),
    },
    {
      name: "turn loop",
      kind: "ours",
      load: loadCore,
      open: ({ lib, options }) => rounds(options.deltas, (deltas) => loop(lib, deltas)),
    },
    {
      name: "engine",
      kind: "ours",
      note: "memory store",
      load: async () => ({ ...(await loadCore()), core: await import("@parley/core") }),
      open: ({ lib, options }) => rounds(options.deltas, (deltas, n) => engineTurn(lib, deltas, n)),
    },
    {
      name: "runtime",
      kind: "ours",
      note: "memory store, journal, one subscriber",
      load: async () => ({
        ...(await loadCore()),
        runtime: await import("@parley/core/runtime"),
        testing: await import("@parley/testing"),
        clock: await import("@parley/core"),
      }),
      // An in-memory store keeps everything it was given: with a new one for each round, no round pays for
      // earlier ones.
      open:
        ({ lib, options }) =>
        async (units) => {
          const { one, close } = await openRuntime(lib, options.deltas);
          const result = await rounds(options.deltas, one)(units);
          await close();
          return result;
        },
    },
  ],
  check({ characters }, units) {
    if (characters !== units * PIECE.length)
      throw new Error(`${characters} characters instead of ${units * PIECE.length}`);
  },
  targets: [{ ours: "runtime", against: "turn loop", atMost: 1.5 }],
};
