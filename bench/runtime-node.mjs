// A runtime in this process, on the memory store or another, with a provider defined by the scenario.

export const PIECE = "some text ";

export const ms = (value) => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

export async function load() {
  const [core, messages, runtime, testing] = await Promise.all([
    import("@parley/core"),
    import("@parley/core/messages"),
    import("@parley/core/runtime"),
    import("@parley/testing"),
  ]);
  return { core, messages, runtime, testing };
}

/** Creates a provider whose stream is written by `produce`. */
export function createProvider({ messages }, produce) {
  return {
    complete: () => Promise.reject(new Error("not used")),
    completeStream: async (params) =>
      messages.createProviderStream((writer) => produce(writer, params), { signal: params.signal }),
  };
}

export function finish(write, text, calls = []) {
  const content = [{ type: "text", text }, ...calls];
  write({
    type: "done",
    result: {
      id: "r1",
      createdAt: new Date(),
      message: { role: "assistant", content },
      usage: { inputTokens: 1, outputTokens: 1 },
      finishReason: calls.length > 0 ? "tool-calls" : "stop",
    },
  });
}

export async function openNode(lib, provider, options = {}) {
  const node = await lib.runtime.createRuntime({
    store: lib.testing.createMemoryLogStore({ clock: lib.core.systemClock }),
    wake: lib.testing.createMemoryWake(),
    models: lib.runtime.createModelCatalog([
      { name: "bench/one", provider, providerName: "bench", model: "one", contextWindow: 100_000_000 },
    ]),
    limits: { subscriberFrames: 1_000_000 },
    ...options,
  });
  return { node, owner: node.forOwner("bench") };
}

/** Resolves with the frame that `wanted` accepts; `onFrame` sees all of them. */
export function follow(owner, conversationId, wanted, onFrame = () => {}) {
  return new Promise((resolve, reject) => {
    const leave = owner.attach(conversationId, undefined, {
      onFrame(frame) {
        onFrame(frame);
        if (!wanted(frame)) return;
        queueMicrotask(() => leave());
        resolve(frame);
      },
      onEnd: reject,
    });
  });
}

export const isEvent = (type) => (frame) => frame.type === "chat.delta" && frame.event.type === type;
