import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { systemClock, type Tool } from "@parley/core";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { serve } from "@parley/server";
import {
  createFaultyStore,
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryWake,
  createScriptedProvider,
  type Gate,
  gate,
  pause,
  reasoning,
  type ScriptSource,
  text,
  toolCall,
} from "@parley/testing";
import type { UIMessage } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { ParleyChatTransport } from "../../packages/client/src/ai-sdk/index.js";
import { callServer } from "../../packages/server/src/test-server.test-support.js";
import { comparable, createChat, lastWhole, type PageChat } from "./sdk-chat.js";
import { sdks } from "./sdks.js";

const lease = { ttlMs: 400, renewMs: 100, claimMs: 100, pollMs: 50, stopMs: 400 };

interface Node {
  /** Its address for clients. */
  readonly url: string;
  /** Keeps a running step from becoming durable. */
  holdJournal(): void;
  /** Resolves when its model waits. */
  readonly waits: Promise<unknown>;
  /** Lets its model continue. */
  goOn(): void;
  /** Ends its connections and takes the store from it, as its death does. */
  kill(): void;
}

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Opens a line to a port that can be cut. */
async function startLine(port: number): Promise<{ readonly url: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const line = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.pipe(far).pipe(near);
  });
  line.listen(0, "127.0.0.1");
  await once(line, "listening");
  return {
    url: `http://127.0.0.1:${(line.address() as AddressInfo).port}`,
    cut() {
      line.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type Play = (at: Gate, node: number) => ScriptSource;

/** Waits in the middle of its answer. The other node's words differ. */
const waitInside: Play = (at, node) => () => [
  text(node === 0 ? "The beginning. " : "Another beginning. ", { size: 4 }),
  pause(at),
  text("The end."),
];

/** The places of an answer with a tool at which its node may die. */
const places = ["thinking", "speaking", "calling", "between steps", "ending"] as const;

/** Reasons, answers and calls a tool, then ends; waits at one of the places. */
function waitAt(place: (typeof places)[number]): Play {
  return (at) =>
    ({ messages }) => {
      const stop = (here: typeof place) => (here === place ? [pause(at)] : []);
      if (messages.at(-1)?.role === "tool") {
        return [...stop("between steps"), text("It looks ", { size: 4 }), ...stop("ending"), text("fine.")];
      }
      return [
        reasoning("Let me think. ", { size: 5 }),
        ...stop("thinking"),
        text("I look. ", { size: 4 }),
        ...stop("speaking"),
        toolCall("look", {}),
        ...stop("calling"),
      ];
    };
}

const look: Tool = { name: "look", recovery: "retry", execute: () => "fine" };

/** Starts nodes on one store, each with a model that plays its part. */
async function startNodes(count: number, play: Play = waitInside): Promise<Node[]> {
  const database = createMemoryDatabase(systemClock);
  const wake = createMemoryWake();
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const at = gate();
      const { store, faults } = createFaultyStore(createMemoryLogStore({ clock: systemClock, database }));
      const provider = createScriptedProvider(play(at, index));
      const model = { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 1_000 };
      const models = createModelCatalog([model]);
      const runtime = await createRuntime({ store, wake, models, lease, tools: [look as Tool<never>] });
      const server = await serve(runtime, { port: 0 });
      const line = await startLine(server.port);
      let journal: Gate | undefined;
      cleanups.push(async () => {
        line.cut();
        faults.heal();
        journal?.open();
        at.open();
        await server.close({ deadlineMs: 0 });
        await runtime.close();
      });
      return {
        url: line.url,
        holdJournal() {
          journal = faults.hold("flushJournal");
        },
        waits: at.reached,
        goOn: () => at.open(),
        kill() {
          faults.cutOff();
          line.cut();
        },
      };
    }),
  );
}

async function history({ url }: Node): Promise<UIMessage[]> {
  return (await callServer(url, "GET", "/api/chat/chat/messages")).json as UIMessage[];
}

describe.each(sdks)("version $version, when the node that answers is lost", ({ sdk }) => {
  it("ends with one copy of what is durable, after a resume on another node", async () => {
    const [first, second] = (await startNodes(2)) as [Node, Node];
    let isLost = false;
    const open = (node: Node, messages: UIMessage[]): PageChat => {
      // Sends every client to the remaining node, and names the last complete message of the page.
      const api = () => `${(isLost ? second : node).url}/api/chat`;
      const transport = new sdk.DefaultChatTransport({
        api: api(),
        prepareReconnectToStreamRequest: () => ({ api: `${api()}/chat/stream?have=${lastWhole(chat)}` }),
      });
      const chat: PageChat = createChat(sdk, { id: "chat", messages, transport });
      return chat;
    };
    const sender = open(first, []);
    const sending = sender.sendMessage({ text: "go" });
    await expect.poll(() => JSON.stringify(sender.messages)).toContain("The beginning.");
    const watcher = open(second, await history(second));
    const watching = watcher.resumeStream();
    await expect.poll(() => JSON.stringify(watcher.messages)).toContain("The beginning.");
    first.kill();
    isLost = true;
    await Promise.all([sending, watching]);
    await expect.poll(async () => (await history(second)).length).toBe(2);
    const messages = await history(second);
    expect(messages.at(-1)?.metadata).toMatchObject({ reason: "interrupted" });
    // A connection that broke is not the end of the answer. The watcher's node lost nothing that it had shown.
    expect(sender.status).toBe("error");
    for (const chat of [sender, watcher]) {
      if (chat.status === "error") await chat.resumeStream();
      expect([chat.status, comparable(chat.messages)]).toEqual(["ready", comparable(messages)]);
    }
  });

  /** Creates Parley's transport through a proxy that sends every request after the first one to the second node. */
  function overBoth(first: Node, second: Node): ParleyChatTransport {
    let isFirst = true;
    return new ParleyChatTransport({
      api: "http://parley.test/api/chat",
      maxDelayMs: 20,
      attempts: 200,
      fetch: (input, init) => {
        const { url } = isFirst ? first : second;
        isFirst = false;
        return fetch(String(input).replace("http://parley.test", url), init);
      },
    });
  }

  it("continues by Parley's transport where the address leads to another node", async () => {
    const [first, second] = (await startNodes(2)) as [Node, Node];
    const chat = createChat(sdk, { id: "chat", transport: overBoth(first, second) as never });
    const sending = chat.sendMessage({ text: "go" });
    await expect.poll(() => JSON.stringify(chat.messages)).toContain("The beginning.");
    // What the other node can show is durable.
    const watcher = createChat(sdk, {
      id: "chat",
      messages: await history(second),
      transport: new sdk.DefaultChatTransport({ api: `${second.url}/api/chat` }),
    });
    const watching = watcher.resumeStream();
    await expect.poll(() => JSON.stringify(watcher.messages)).toContain("The beginning.");
    first.kill();
    await Promise.all([sending, watching]);
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
    expect(comparable(chat.messages)).toEqual(comparable(await history(second)));
  });

  it("does not mix the answer of another node with text that was lost", async () => {
    const [first, second] = (await startNodes(2)) as [Node, Node];
    first.holdJournal();
    second.goOn();
    const chat = createChat(sdk, { id: "chat", transport: overBoth(first, second) as never });
    const sending = chat.sendMessage({ text: "go" });
    await expect.poll(() => JSON.stringify(chat.messages)).toContain("The beginning.");
    first.kill();
    await sending;
    expect([chat.status, chat.error?.message]).toEqual(["error", expect.stringContaining("was lost")]);
    await expect.poll(async () => (await history(second)).length).toBe(2);
    await chat.resumeStream();
    const messages = await history(second);
    expect(JSON.stringify(messages)).toContain("Another beginning. The end.");
    expect([chat.status, comparable(chat.messages)]).toEqual(["ready", comparable(messages)]);
  });

  it.each(places)(
    "ends with one copy of everything, by either transport, if that was while %s",
    async (place) => {
      const [first, second] = (await startNodes(2, waitAt(place))) as [Node, Node];
      second.goOn();
      const own = createChat(sdk, { id: "chat", transport: overBoth(first, second) as never });
      const sending = own.sendMessage({ text: "go" });
      await first.waits;
      // Another page follows with the SDK's transport, and reconnects to the remaining node.
      let node = first;
      const transport = new sdk.DefaultChatTransport({
        prepareReconnectToStreamRequest: () => ({
          api: `${node.url}/api/chat/chat/stream?have=${lastWhole(watcher)}`,
        }),
      });
      const watcher: PageChat = createChat(sdk, { id: "chat", messages: await history(first), transport });
      const watching = watcher.resumeStream();
      await expect.poll(() => watcher.messages.length).toBe(2);
      first.kill();
      node = second;
      await Promise.all([sending, watching]);
      await expect.poll(async () => (await history(second)).length).toBe(2);
      const messages = comparable(await history(second));
      for (const chat of [own, watcher]) {
        if (chat.status === "error") await chat.resumeStream();
        expect([chat.status, comparable(chat.messages)]).toEqual(["ready", messages]);
      }
    },
  );
});
