// @vitest-environment happy-dom
import type { WsServerMessage } from "@parley/wire";
import { act, createElement, StrictMode, useRef } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient, type ParleyClient } from "../client.js";
import type { Connection } from "../connection/connection.js";
import type { ConversationState } from "../state/conversation-state.js";
import { conversationId, published, row, rows, snapshot, text } from "../state/frames.test-support.js";
import {
  ParleyProvider,
  useClient,
  useConnection,
  useConnectionState,
  useConversation,
  useConversationList,
  useConversationSelector,
  useInbox,
} from "./index.js";

/** A server that the test controls: its messages come when the test sends them. */
class Wire {
  static readonly sockets: Wire[] = [];
  readonly said: string[] = [];
  readonly #listeners = new Map<string, (event: unknown) => void>();

  constructor() {
    Wire.sockets.push(this);
  }

  addEventListener(type: string, listener: (event: unknown) => void) {
    this.#listeners.set(type, listener);
  }

  send(data: string) {
    const { type, conversationId: id = "" } = JSON.parse(data) as Record<string, string>;
    this.said.push(`${type} ${id}`.trim());
  }

  close() {}

  emit(type: "open" | "message" | "close", event: unknown = {}) {
    this.#listeners.get(type)?.(event);
  }

  say(...messages: readonly WsServerMessage[]) {
    this.emit("message", { data: JSON.stringify(messages) });
  }
}

const meta = snapshot("0").meta;
const answers: Record<string, unknown> = {
  "/conversations": { conversations: [meta] },
  [`/conversations/${conversationId}`]: { chunks: [], latestSeq: 0 },
  [`/conversations/${conversationId}/meta`]: { ...meta, queue: { messages: [] }, cursor: "0" },
};

let client: ParleyClient;
let connection: Connection;
let root: Root;
let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  Wire.sockets.length = 0;
  client = createClient({
    url: "http://parley.test",
    WebSocket: Wire as never,
    fetch: async (input) => Response.json(answers[new URL(String(input)).pathname] ?? {}),
    schedule: queueMicrotask,
    pace: { lingerMs: 0 },
  });
  connection = client.connect();
  place = document.createElement("div");
  root = createRoot(place);
});

afterEach(async () => {
  await act(async () => root.unmount());
  connection.close();
  vi.unstubAllGlobals();
});

const socket = () => Wire.sockets[0] as Wire;

async function show(element: ReturnType<typeof createElement>): Promise<void> {
  const provided = createElement(ParleyProvider, { client, connection }, element);
  await act(async () => root.render(createElement(StrictMode, null, provided)));
}

async function say(...messages: readonly WsServerMessage[]): Promise<void> {
  await act(async () => socket().say(...messages));
}

const words = (state: ConversationState) =>
  state.messages
    .map(({ parts }) => parts.map(({ chunk }) => ("text" in chunk ? chunk.text : "")).join(""))
    .join(" / ");

function Transcript({ id = conversationId }: { readonly id?: string }) {
  const { state, handle } = useConversation(id);
  return createElement("p", { title: handle.id }, `${state.phase}: ${words(state)}`);
}

/** Only a failure takes that long. */
const until = (holds: () => boolean) => vi.waitUntil(holds, 30_000);

describe("a conversation in a component", () => {
  it("is loaded, followed once in spite of strict mode, and let go of", async () => {
    await show(createElement(Transcript));
    await act(async () => socket().emit("open"));
    await until(() => socket().said.includes(`chat.subscribe ${conversationId}`));
    expect(socket().said.filter((each) => each.startsWith("chat.subscribe"))).toHaveLength(1);
    await say(
      snapshot("0"),
      rows("1~t1~1~-1", row(1, "u1", "user", "Hi")) as WsServerMessage,
      text(0, "Hel") as WsServerMessage,
      text(1, "lo") as WsServerMessage,
    );
    expect(place.textContent).toBe("ready: Hi / Hello");
    await show(createElement("p"));
    await until(() => socket().said.includes(`chat.unsubscribe ${conversationId}`));
  });

  it("is found again when it was let go of between a render and its effects", async () => {
    const stale = connection.peek(conversationId);
    let isFirst = true;
    const slow: Connection = {
      ...connection,
      // The handle of a component that was suspended for a long time.
      peek: (id) => (isFirst ? stale : connection.peek(id)),
      conversation(id) {
        isFirst = false;
        return connection.conversation(id);
      },
    };
    await until(() => connection.peek(conversationId) !== stale);
    const provided = createElement(ParleyProvider, { connection: slow }, createElement(Transcript));
    await act(async () => root.render(provided));
    await act(() => until(() => place.textContent === "ready: "));
  });

  it("is another one when its id changes", async () => {
    answers["/conversations/other"] = { chunks: [row(1, "o1", "user", "Other")], latestSeq: 1 };
    answers["/conversations/other/meta"] = { ...meta, id: "other", queue: { messages: [] }, cursor: "1" };
    await show(createElement(Transcript));
    await act(async () => socket().emit("open"));
    await show(createElement(Transcript, { id: "other" }));
    await act(() => until(() => place.textContent === "ready: Other"));
    expect(place.querySelector("p")?.title).toBe("other");
  });

  it("renders a selection only when that changes", async () => {
    let renders = 0;
    function Count() {
      const count = useConversationSelector(conversationId, ({ messages }) => messages.length);
      const ids = useConversationSelector(
        conversationId,
        ({ messages }) => messages.map(({ id }) => id),
        (a, b) => a.join() === b.join(),
      );
      const times = useRef(0);
      times.current += 1;
      renders = times.current;
      return createElement("p", null, `${count} ${ids.join()}`);
    }
    await show(createElement(Count));
    await act(async () => socket().emit("open"));
    await until(() => socket().said.includes(`chat.subscribe ${conversationId}`));
    await say(
      snapshot("0"),
      published(0, { type: "user-message", text: "Hi", messageId: "u1" }) as WsServerMessage,
    );
    await say(text(1, "Hel") as WsServerMessage);
    expect(place.textContent).toBe("2 u1,a1");
    const before = renders;
    await say(text(2, "lo") as WsServerMessage);
    await say(text(3, "!") as WsServerMessage);
    expect(renders).toBe(before);
    expect(words(connection.peek(conversationId).getState())).toBe("Hi / Hello!");
  });
});

describe("the connection and the list in a component", () => {
  it("are live", async () => {
    function Status() {
      const { phase } = useConnectionState();
      const { state, list } = useConversationList();
      const titles = state.conversations.map(({ title }) => title).join();
      return createElement("p", null, `${phase} ${state.phase} ${titles} ${list === useConnection().list}`);
    }
    await show(createElement(Status));
    await act(() => until(() => place.textContent === "connecting ready Hello true"));
    await act(async () => socket().emit("open"));
    await act(() => until(() => place.textContent === "open ready Hello true"));
    await say({
      type: "conversation.updated",
      conversationId,
      meta: { ...meta, title: "Bye", lastActivityAt: 9 },
    });
    expect(place.textContent).toBe("open ready Bye true");
    await act(async () => socket().emit("close", { code: 1012 }));
    expect(place.textContent).toBe("waiting ready Bye true");
  });

  it("list what waits in any conversation", async () => {
    answers["/pending"] = { pending: [] };
    function Count() {
      const { state } = useInbox();
      return createElement("p", null, `${state.phase} ${state.requests.length}`);
    }
    await show(createElement(Count));
    await act(async () => socket().emit("open"));
    await act(() => until(() => place.textContent === "ready 0"));
    answers["/pending"] = { pending: [{ conversationId: "other", requestId: "q1", createdAt: 1 }] };
    const waiting = { turnId: "t1", count: 1, kinds: ["approval" as const] };
    await say({ type: "conversation.statusChanged", conversationId: "other", status: "active", waiting });
    await act(() => until(() => place.textContent === "ready 1"));
    await say({ type: "conversation.statusChanged", conversationId: "other", status: "idle" });
    expect(place.textContent).toBe("ready 0");
  });

  it("say what is missing", async () => {
    const failures: string[] = [];
    function Lonely({ use }: { readonly use: () => unknown }) {
      try {
        use();
      } catch (error) {
        failures.push((error as Error).message);
      }
      return null;
    }
    await act(async () => root.render(createElement(Lonely, { use: useConnection })));
    await act(async () =>
      root.render(createElement(ParleyProvider, { connection }, createElement(Lonely, { use: useClient }))),
    );
    expect(failures).toEqual([
      "There is no ParleyProvider above this component",
      "useClient: the ParleyProvider was given a connection, not a client",
    ]);
    expect(() => ParleyProvider({})).toThrow("give it a client or a connection");
  });

  it("come from the client alone, if that is all there is", async () => {
    function Url() {
      return createElement("p", null, useClient().url);
    }
    await act(async () => root.render(createElement(ParleyProvider, { client }, createElement(Url))));
    expect(place.textContent).toBe("http://parley.test");
  });
});
