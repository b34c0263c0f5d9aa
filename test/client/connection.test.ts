import { gate } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { SocketConstructor } from "../../packages/client/src/connection/socket.js";
import type { ConversationListState } from "../../packages/client/src/conversations/conversation-list.js";
import { ParleyRequestError } from "../../packages/client/src/requests/request-error.js";
import type { ConversationState } from "../../packages/client/src/state/conversation-state.js";
import { toolCallsOf } from "../../packages/client/src/tool-calls/tool-calls.js";
import { isIdle, lastText, liveServer, networkTo, testClient, until } from "./live-server.js";

/** Returns what a page would show, without what depends on the moment. */
function shown(state: ConversationState): unknown {
  const { cursor: _, meta: __, ...rest } = state;
  return JSON.parse(JSON.stringify(rest));
}

const hasWord = (word: string) => (state: ConversationState) => lastText(state).includes(word);

const isKnown = ({ turns }: ConversationState) =>
  Object.values(turns).every(({ reason }) => reason !== undefined);

/** Returns the state of a client that opens the conversation only now, with the figures of its turns. */
async function freshState(url: string, id: string): Promise<ConversationState> {
  const handle = testClient(url).connect().conversation(id);
  return until(handle, (state) => isIdle(state) && state.cursor !== undefined && isKnown(state));
}

/** Returns a `fetch` whose first call to such an address is never answered, until its caller gives it up. */
function firstNeverAnswered(part: string, onAsked: () => void = () => {}): typeof fetch {
  let calls = 0;
  return async (input, init) => {
    if (!String(input).includes(part) || ++calls > 1) return fetch(input, init);
    onAsked();
    return new Promise((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  };
}

/** Returns the lines of a conversation with 900 messages of one part each. */
function longConversation(): string[] {
  return [
    JSON.stringify({
      type: "conversation",
      format: "parley.conversation.1",
      conversation: { id: "long", createdAt: 1, lastActivityAt: 1, title: "Long", status: "idle" },
      lastSeq: 900,
    }),
    ...Array.from({ length: 900 }, (_, index) =>
      JSON.stringify({
        type: "chunk",
        seq: index + 1,
        role: index % 2 === 0 ? "user" : "assistant",
        chunk: { type: "text", text: `Message ${index + 1}` },
        messageId: `m${index + 1}`,
        createdAt: 1,
        partIndex: 0,
        partCount: 1,
      }),
    ),
  ];
}

describe("a conversation that is followed", () => {
  it("does not exist before its first message, which shows at once and is answered", async () => {
    const live = await liveServer();
    const handle = testClient(live.url).connect().conversation("c1");
    expect((await until(handle, ({ phase }) => phase !== "loading")).phase).toBe("missing");
    const sent = handle.send("Hello", { messageId: "m1" });
    expect(handle.getState().messages).toMatchObject([{ id: "m1", status: "sending" }]);
    const outcome = await sent;
    expect(outcome).toMatchObject({ conversationId: "c1", messageId: "m1", outcome: "started" });
    const state = await until(handle, (each) => each.phase === "ready" && isIdle(each));
    expect(lastText(state)).toBe("You said: Hello");
    expect(state.messages.map(({ id, role }) => [id, role])).toEqual([
      ["m1", "user"],
      [expect.any(String), "assistant"],
    ]);
    expect(state).toMatchObject({ contextSize: 28, contextWindow: 1_000, meta: { title: "Hello" } });
    expect(Object.values(state.turns)).toMatchObject([
      { status: "sealed", reason: "stop", model: "test/one", steps: [{ usage: { inputTokens: 20 } }] },
    ]);
  });

  it("is not requested before the message that it begins with is there", async () => {
    const live = await liveServer();
    const answers: number[] = [];
    /** A socket on which messages take longer than other requests. */
    class SlowSocket extends WebSocket {
      override send(data: string): void {
        setTimeout(() => super.send(data), 50);
      }
    }
    const client = testClient(live.url, {
      WebSocket: SlowSocket as unknown as SocketConstructor,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (String(input).includes("/conversations/c1")) answers.push(response.status);
        return response;
      },
    });
    // Sent before the connection is open, as on a page whose field is used at once.
    const handle = client.connect().conversation("c1");
    await handle.send("Hello");
    await until(handle, (state) => state.phase === "ready" && isIdle(state));
    expect(new Set(answers)).toEqual(new Set([200]));
  });

  for (const link of ["a socket", "event streams"]) {
    it(`is whole without a request when its message makes it, over ${link}`, async () => {
      const live = await liveServer();
      const asked: string[] = [];
      const client = testClient(live.url, {
        ...(link === "a socket" ? {} : { WebSocket: null }),
        fetch: (input, init) => {
          asked.push(new URL(String(input)).pathname);
          return fetch(input, init);
        },
      });
      const handle = client.connect().conversation("c1");
      await handle.send("use the tool", { isNew: true });
      await until(handle, ({ phase, activeTurn }) => phase === "ready" && activeTurn !== undefined);
      live.tool.open();
      const state = await until(handle, (each) => each.phase === "ready" && isIdle(each) && isKnown(each));
      const fresh = await freshState(live.url, "c1");
      expect(state.messages).toEqual(fresh.messages);
      const { contextSize, contextWindow } = fresh;
      expect(state).toMatchObject({ contextSize, contextWindow, meta: { title: "use the tool" } });
      await handle.send("and once more");
      await until(handle, (each) => isIdle(each) && lastText(each).includes("once more"));
      const calls = asked.filter((path) => path !== "/chat" && !path.endsWith("/events"));
      expect(calls).toEqual([]);
    });
  }

  it("is the same for one who watched and one who comes later, tools and all", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    await client.request("POST /conversations", { body: { id: "c1" } });
    const handle = client.connect().conversation("c1");
    await until(handle, ({ phase }) => phase === "ready");
    await handle.send("Use a tool");
    const working = await until(handle, (state) =>
      Object.values(state.turns).some(({ toolOutput }) => Object.keys(toolOutput).length > 0),
    );
    const stepId = Object.values(working.turns)[0]?.steps[0]?.stepId;
    if (stepId === undefined) throw new Error("There is no step");
    expect(toolCallsOf(working, stepId)).toMatchObject([{ status: "running", output: "looking " }]);
    const inTheMiddle = testClient(live.url).connect().conversation("c1");
    const joined = await until(inTheMiddle, (state) =>
      Object.values(state.turns).some(({ toolOutput }) => Object.keys(toolOutput).length > 0),
    );
    expect(joined.messages).toEqual(handle.getState().messages);
    expect(joined.turns).toEqual(handle.getState().turns);
    live.tool.open();
    const states = await Promise.all([handle, inTheMiddle].map((each) => until(each, isIdle)));
    const { turns } = await client.request("GET /conversations/:id/metrics", { params: { id: "c1" } });
    const late = await freshState(live.url, "c1");
    expect(toolCallsOf(late, stepId)).toMatchObject([{ status: "done", result: { content: "seen" } }]);
    for (const state of states) {
      expect(state.messages).toEqual(late.messages);
      const [seen] = Object.values(state.turns);
      const [expected] = Object.values(late.turns);
      expect(
        seen?.steps.map(({ usage, ttftMs, decodeMs, genTotalMs }) => [usage, ttftMs, decodeMs, genTotalMs]),
      ).toEqual(
        turns[0]?.steps.map(({ usage, ttftMs, decodeMs, genTotalMs }) => [
          usage,
          ttftMs,
          decodeMs,
          genTotalMs,
        ]),
      );
      expect({ ...seen, steps: [] }).toEqual({ ...expected, steps: [] });
      expect(state).toMatchObject({ contextSize: late.contextSize, contextWindow: late.contextWindow });
    }
  });

  it("reports a turn's failure", async () => {
    const live = await liveServer();
    const handle = testClient(live.url).connect().conversation("c1");
    await handle.send("Please fail");
    const state = await until(handle, isIdle);
    expect(Object.values(state.turns)).toMatchObject([
      {
        reason: "error",
        error: { code: "provider_rejected", message: "I would rather not", retryable: false },
      },
    ]);
  });

  it("refuses a second message while a turn runs, and keeps it to be sent again", async () => {
    const live = await liveServer();
    const handle = testClient(live.url).connect().conversation("c1");
    await handle.send("wait for it");
    await until(handle, hasWord("One moment"));
    const refused = handle.send("And this?", { messageId: "m2" });
    await expect(refused).rejects.toMatchObject({ code: "turn_active", retryable: true });
    expect(handle.getState().messages.at(-1)).toMatchObject({
      id: "m2",
      status: "failed",
      error: { code: "turn_active" },
    });
    live.at.open();
    await until(handle, ({ status }) => status === "idle");
    await handle.retry("m2");
    const state = await until(handle, isIdle);
    expect(lastText(state)).toBe("You said: And this?");
    await expect(handle.retry("m2")).rejects.toBeInstanceOf(ParleyRequestError);
  });

  it("lets a failed message be forgotten", async () => {
    const live = await liveServer();
    const handle = testClient(live.url).connect().conversation("c1");
    await expect(handle.send("   ", { messageId: "m1" })).rejects.toMatchObject({ code: "invalid_request" });
    handle.cancel("m1");
    expect(handle.getState().messages).toEqual([]);
  });

  it("lets a message be forgotten that waits for the connection, and does not send it", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const handle = client.connect().conversation("c1");
    await handle.send("Hello");
    await until(handle, isIdle);
    await live.stop();
    await until(client.connect(), ({ phase }) => phase === "waiting" || phase === "connecting");
    const forgotten = handle.send("never mind", { messageId: "m2" });
    const sent = handle.send("go on", { messageId: "m3" });
    handle.cancel("m2");
    await expect(forgotten).rejects.toMatchObject({ code: "canceled" });
    expect(handle.getState().messages.at(-1)).toMatchObject({ id: "m3", status: "sending" });
    await live.start();
    await sent;
    const state = await until(handle, (each) => isIdle(each) && hasWord("You said: go on")(each));
    expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("stops a turn, and keeps its output", async () => {
    const live = await liveServer();
    const handle = testClient(live.url).connect().conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    expect(await handle.stop()).toMatchObject({ abortedTurn: true });
    const state = await until(handle, isIdle);
    expect(lastText(state)).toBe("One moment. ");
    expect(Object.values(state.turns)).toMatchObject([{ reason: "aborted" }]);
  });

  it("shows the queue to all clients, and empties it as it is delivered", async () => {
    const live = await liveServer();
    const here = testClient(live.url).connect().conversation("c1");
    await here.send("wait");
    await until(here, hasWord("One moment"));
    const there = testClient(live.url).connect().conversation("c1");
    await until(there, ({ phase }) => phase === "ready");
    expect(await here.send("Second", { ifBusy: "queue", messageId: "q1" })).toMatchObject({
      outcome: "queued",
    });
    const first = await until(here, ({ queue }) => queue.messages.length === 1);
    expect(first.queue.messages).toMatchObject([{ id: "q1", text: "Second", mode: "queue" }]);
    await here.send("Third", { ifBusy: "queue", messageId: "q2" });
    await until(there, ({ queue }) => queue.messages.length === 2);
    await there.editQueued("q2", { text: "Third!", before: "q1" });
    await until(here, ({ queue }) => queue.messages[0]?.text === "Third!");
    await there.removeQueued("q1");
    await until(here, ({ queue }) => queue.messages.length === 1);
    await here.stop();
    await until(there, ({ queue }) => queue.paused === true);
    live.at.open();
    await there.resumeQueue();
    for (const handle of [here, there]) {
      const state = await until(
        handle,
        (each) => isIdle(each) && each.queue.messages.length === 0 && hasWord("Third!")(each),
      );
      expect(state.messages.map(({ id }) => id)).toContain("q2");
    }
    expect(shown(here.getState()) as object).toMatchObject({ queue: { messages: [] } });
  });

  it("takes a queued message as the first one of an idle conversation", async () => {
    const live = await liveServer();
    const handle = testClient(live.url).connect().conversation("c1");
    await until(handle, ({ phase }) => phase === "missing");
    expect(await handle.send("Hello", { ifBusy: "steer" })).toMatchObject({ outcome: "started" });
    expect(lastText(await until(handle, isIdle))).toBe("You said: Hello");
  });

  it("loads older pages when they are requested", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    await client.importConversation(longConversation());
    const handle = client.connect().conversation("long");
    const newest = await until(handle, ({ phase }) => phase === "ready");
    expect(newest).toMatchObject({ oldestSeq: 701, hasEarlier: true });
    const loading = handle.loadEarlier(50);
    expect(handle.getState().loadingEarlier).toBe(true);
    await loading;
    expect(handle.getState()).toMatchObject({ oldestSeq: 651, loadingEarlier: false });
    await handle.loadThrough(100);
    expect(handle.getState().oldestSeq).toBeLessThanOrEqual(100);
    await handle.loadThrough(1);
    await handle.loadEarlier();
    const { messages, hasEarlier } = handle.getState();
    expect(hasEarlier).toBe(false);
    expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 900 }, (_, index) => `m${index + 1}`));
  });

  it("loads a page around a place, says what is missing, and fills that from either side", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    await client.importConversation(longConversation());
    const handle = client.connect().conversation("long");
    await handle.loadAround(300);
    const gaps = [
      { afterSeq: 0, beforeSeq: 201 },
      { afterSeq: 399, beforeSeq: 701 },
    ];
    expect(handle.getState()).toMatchObject({ oldestSeq: 201, hasEarlier: true, gaps });
    // Loaded or missing parts are not requested.
    const before = handle.getState();
    for (const seq of [201, 399, 701, 900, 2_000]) await handle.loadAround(seq);
    expect(handle.getState()).toBe(before);
    const [, gap] = handle.getState().gaps;
    if (gap === undefined) throw new Error("There is no gap");
    await Promise.all([handle.loadGap(gap, "first", 50), handle.loadGap(gap, "last", 50)]);
    expect(handle.getState().gaps).toEqual([gaps[0], { afterSeq: 449, beforeSeq: 651 }]);
    await handle.loadEarlier(50);
    expect(handle.getState().oldestSeq).toBe(151);
    await handle.loadThrough(1);
    const { messages, ...whole } = handle.getState();
    expect(whole).toMatchObject({ gaps: [], hasEarlier: false });
    expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 900 }, (_, index) => `m${index + 1}`));
  });

  it("waits for its newest page where earlier ones are requested at once", async () => {
    const live = await liveServer();
    await testClient(live.url).importConversation(longConversation());
    const whole = testClient(live.url).connect().conversation("long");
    await whole.loadThrough(1);
    expect(whole.getState().oldestSeq).toBe(1);
    const more = testClient(live.url).connect().conversation("long");
    await more.loadEarlier(50);
    expect(more.getState().oldestSeq).toBe(651);
  });

  it("waits for the newest page that is loaded in place of another when the connection opens", async () => {
    const live = await liveServer();
    await testClient(live.url).importConversation(longConversation());
    const asked = gate();
    // The first page never arrives: it is replaced by the one that is requested when the socket is open.
    const never = firstNeverAnswered("/conversations/long?", () => asked.open());
    const handle = testClient(live.url, { fetch: never }).connect().conversation("long");
    await asked.wait();
    await handle.loadThrough(1);
    expect(handle.getState().oldestSeq).toBe(1);
  });

  it("asks for the figures of the turns that it shows, and of no others", async () => {
    const live = await liveServer();
    const counts: number[] = [];
    const client = testClient(live.url, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!String(input).includes("/metrics")) return response;
        const answer = await response.text();
        counts.push(JSON.parse(answer).turns.length);
        return new Response(answer, { headers: response.headers });
      },
    });
    const usage = { inputTokens: 3, outputTokens: 2 };
    const turns = Array.from({ length: 450 }, (_, index) => `t${index + 1}`);
    const said = (turnId: string, seq: number, role: string) => ({
      type: "chunk",
      seq,
      role,
      turnId,
      chunk: { type: "text", text: turnId },
      messageId: `m${seq}`,
      createdAt: 1,
      partIndex: 0,
      partCount: 1,
    });
    const lines = [
      {
        type: "conversation",
        format: "parley.conversation.1",
        conversation: { id: "long", createdAt: 1, lastActivityAt: 1, title: "Long", status: "idle" },
        lastSeq: 900,
      },
      ...turns.flatMap((turnId, index) => [
        said(turnId, index * 2 + 1, "user"),
        said(turnId, index * 2 + 2, "assistant"),
      ]),
      ...turns.map((turnId) => ({
        type: "turn",
        turnId,
        startedAt: 1,
        metrics: { turnId, usage, steps: [], reason: "stop" },
        providerCalls: [],
      })),
    ];
    await client.importConversation(lines.map((line) => JSON.stringify(line)));
    const handle = client.connect().conversation("long");
    const isKnown = (state: ConversationState) =>
      state.phase === "ready" &&
      state.messages.every(({ turnId = "" }) => state.turns[turnId]?.usage?.inputTokens === 3);
    await until(handle, isKnown);
    expect(counts, "turns whose figures came").toEqual([100]);
    await handle.loadEarlier(300);
    expect(Object.keys((await until(handle, isKnown)).turns)).toEqual(
      expect.arrayContaining(turns.slice(-250)),
    );
    expect(counts).toEqual([100, 100, 100]);
  });

  it("asks for figures again when an answer does not come", async () => {
    const live = await liveServer();
    const first = testClient(live.url).connect().conversation("c1");
    await first.send("Hello");
    await until(first, isIdle);
    const options = { fetch: firstNeverAnswered("/metrics"), pace: { loadMs: 1_000 } };
    const late = testClient(live.url, options).connect().conversation("c1");
    await until(late, (state) => isIdle(state) && isKnown(state));
  });

  it("receives its title, its model, that it is closed and reopened, and its end", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const handle = client.connect().conversation("c1");
    await handle.send("Hello");
    await until(handle, (state) => isIdle(state) && state.phase === "ready");
    const params = { id: "c1" };
    await client.request("PUT /conversations/:id/title", { params, body: { title: "Greetings" } });
    await until(handle, ({ meta }) => meta?.title === "Greetings");
    await client.request("PUT /conversations/:id/model", { params, body: { model: "test/two" } });
    await until(handle, ({ contextWindow }) => contextWindow === 2_000);
    await client.request("POST /conversations/:id/close", { params });
    await until(handle, ({ status, meta }) => status === "closed" && meta?.status === "closed");
    await client.request("POST /conversations/:id/open", { params });
    await until(handle, ({ status, meta }) => status === "idle" && meta?.status === "idle");
    await client.request("DELETE /conversations/:id", { params });
    const gone = await until(handle, ({ phase }) => phase === "missing");
    expect(gone.messages).toEqual([]);
  });

  it("keeps what could not be sent when it is removed, to be sent again", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const handle = client.connect().conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    const refused = handle.send("And this?", { messageId: "m2" });
    await expect(refused).rejects.toMatchObject({ code: "turn_active" });
    await handle.stop();
    await until(handle, ({ status }) => status === "idle");
    await client.request("DELETE /conversations/:id", { params: { id: "c1" } });
    const gone = await until(handle, ({ phase }) => phase === "missing");
    expect(gone.messages).toMatchObject([{ id: "m2", status: "failed", error: { code: "turn_active" } }]);
    await handle.retry("m2");
    const state = await until(handle, (each) => each.phase === "ready" && isIdle(each));
    expect(state.messages).toHaveLength(2);
    expect(lastText(state)).toBe("You said: And this?");
  });

  it("shows a summary where a compaction put it", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const handle = client.connect().conversation("c1");
    for (const word of ["One", "Two", "Three"]) {
      await handle.send(word);
      await until(handle, (state) => isIdle(state) && hasWord(`You said: ${word}`)(state));
    }
    await client.request("POST /conversations/:id/compact", { params: { id: "c1" }, body: { keepLastN: 1 } });
    const state = await until(handle, ({ messages }) => messages.at(-1)?.role === "system");
    expect(state.messages.at(-1)?.parts[0]?.chunk).toMatchObject({ type: "system", covers: { firstSeq: 1 } });
  });

  it("is let go of some time after the last one who held it", async () => {
    const live = await liveServer();
    const connection = testClient(live.url).connect();
    const first = connection.conversation("c1");
    const second = connection.conversation("c1");
    await first.send("Hello");
    await until(second, isIdle);
    first.release();
    first.release();
    expect(connection.peek("c1").getState()).toBe(second.getState());
    second.release();
    // Until then it is the same, so that a component that comes back finds it as it was.
    expect(connection.peek("c1").getState()).toBe(second.getState());
    await new Promise<void>((resolve) => {
      const look = () => {
        if (connection.peek("c1").getState().messages.length === 0) resolve();
        else setImmediate(look);
      };
      look();
    });
    expect(connection.peek("c1").getState().phase).toBe("loading");
  });
});

describe("a connection that breaks", () => {
  for (const [link, options] of [
    ["sockets", {}],
    ["server-sent events", { WebSocket: null }],
  ] as const) {
    it(`shows the new conversation when one was created again under its id meanwhile, over ${link}`, async () => {
      const live = await liveServer();
      const network = await networkTo(live.server);
      const here = testClient(live.url);
      for (const length of [1, 3]) {
        const id = `c-${length}`;
        const near = here.connect().conversation(id);
        for (const message of ["old one", "old two"]) {
          await near.send(message);
          await until(near, (state) => isIdle(state) && lastText(state) === `You said: ${message}`);
        }
        const away = testClient(network.url, options).connect().conversation(id);
        await until(away, (state) => isIdle(state) && state.messages.length === 4);
        await network.down();
        await here.request("DELETE /conversations/:id", { params: { id } });
        await until(near, ({ phase }) => phase === "missing");
        for (let n = 1; n <= length; n += 1) {
          await near.send(`new ${n}`);
          await until(near, (state) => isIdle(state) && lastText(state) === `You said: new ${n}`);
        }
        await network.up();
        const isWhole = (each: ConversationState) =>
          isIdle(each) && lastText(each) === `You said: new ${length}`;
        const state = await until(away, isWhole);
        // The removal of the old one may be published after the new one was created: then it is loaded again.
        expect(state.messages).toEqual((await until(near, isWhole)).messages);
      }
    });
  }

  it("resumes in the middle of a turn, and misses nothing", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const far = testClient(network.url);
    const cut = far.connect().conversation("c1");
    const whole = testClient(live.url).connect().conversation("c1");
    await cut.send("wait and see");
    await Promise.all([until(cut, hasWord("One moment")), until(whole, hasWord("One moment"))]);
    network.cut();
    await until(far.connect(), ({ phase }) => phase === "waiting");
    live.at.open();
    const hasFigures = (state: ConversationState) =>
      isIdle(state) && Object.values(state.turns).every(({ steps }) => steps[0]?.usage !== undefined);
    const [resumed, unbroken] = await Promise.all([until(cut, hasFigures), until(whole, hasFigures)]);
    expect(lastText(resumed)).toBe("One moment. You said: wait and see");
    expect(shown(resumed)).toEqual(shown(unbroken));
    expect(far.connect().getState()).toMatchObject({ phase: "open", everOpen: true });
  });

  it("learns the figures of turns that came and went meanwhile", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const far = testClient(network.url);
    const handle = far.connect().conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    await network.down();
    live.at.open();
    const near = testClient(live.url).connect().conversation("c1");
    await until(near, (state) => state.phase === "ready" && isIdle(state));
    await near.send("Hello");
    // A client that joins at the moment in which a turn ends gets its figures a little later.
    const seen = await until(
      near,
      (state) =>
        isIdle(state) &&
        hasWord("You said: Hello")(state) &&
        Object.values(state.turns).every(({ usage }) => usage !== undefined),
    );
    await network.up();
    const state = await until(handle, ({ turns }) => {
      const known = Object.values(turns);
      return known.length === 2 && known.every((turn) => turn.reason === "stop" && turn.steps.length === 1);
    });
    expect(state.messages).toEqual(seen.messages);
    expect(Object.values(state.turns).map(({ usage }) => usage)).toEqual(
      Object.values(seen.turns).map(({ usage }) => usage),
    );
  });

  it("is given up when nothing arrives, though it reports that it is open", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const client = testClient(network.url, { pace: { pingMs: 20, pongMs: 60, openMs: 80 } });
    const connection = client.connect();
    const handle = connection.conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    network.freeze();
    await until(connection, ({ phase }) => phase !== "open");
    live.at.open();
    network.thaw();
    const state = await until(handle, isIdle);
    expect(lastText(state)).toBe("One moment. You said: wait");
  });

  it("sends messages written meanwhile, once", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const client = testClient(network.url);
    const connection = client.connect();
    const handle = connection.conversation("c1");
    await handle.send("First");
    await until(handle, isIdle);
    await network.down();
    await until(connection, ({ phase }) => phase !== "open");
    const sent = handle.send("Second", { messageId: "m2" });
    const queued = handle.send("Third", { ifBusy: "queue", messageId: "m3" });
    expect(handle.getState()).toMatchObject({
      messages: [{}, {}, { id: "m2", status: "sending" }],
      pending: [
        { id: "m2", text: "Second", ifBusy: "reject", status: "sending", shownIn: "messages" },
        { id: "m3", text: "Third", ifBusy: "queue", status: "sending", shownIn: "queue" },
      ],
    });
    await network.up();
    connection.retryNow();
    await Promise.all([sent, queued]);
    expect(handle.getState().pending).toEqual([]);
    const state = await until(handle, (each) => isIdle(each) && each.messages.length === 6);
    expect(
      state.messages
        .filter(({ role }) => role === "user")
        .map(({ id }) => id)
        .slice(1),
    ).toEqual(["m2", "m3"]);
  });

  it("brings what is unsent to the queue though no caller holds the conversation any more", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const connection = testClient(network.url, { pace: { lingerMs: 1 } }).connect();
    const handle = connection.conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    await network.down();
    await until(connection, ({ phase }) => phase !== "open");
    const queued = handle.send("Second", { ifBusy: "queue", messageId: "q1" });
    const dropped = handle.send("Third", { ifBusy: "queue", messageId: "q2" });
    handle.cancel("q2");
    handle.release();
    await until(connection, ({ attempt }) => attempt > 5);
    await network.up();
    expect(await queued).toMatchObject({ messageId: "q1", outcome: "queued" });
    await expect(dropped).rejects.toMatchObject({ code: "canceled" });
    const there = testClient(live.url).connect().conversation("c1");
    const state = await until(there, ({ phase }) => phase === "ready");
    expect(state.queue.messages.map(({ id }) => id)).toEqual(["q1"]);
  });

  it("loads a conversation once that was opened before the connection was there", async () => {
    const live = await liveServer();
    await testClient(live.url).request("POST /conversations", { body: { id: "c1" } });
    await testClient(live.url).request("POST /conversations", { body: { id: "c2" } });
    const asked: string[] = [];
    const client = testClient(live.url, {
      // Every conversation waits for the same time after its first failure.
      pace: { retryMinMs: 300, retryMaxMs: 300 },
      random: () => 1,
      fetch: (input, init) => {
        const id = /\/conversations\/(c\d)\?/.exec(String(input))?.[1];
        if (id !== undefined) asked.push(id);
        const isDown =
          connection.getState().phase !== "open" || asked.filter((one) => one === "c2").length === 1;
        return isDown ? Promise.reject(new TypeError("Failed to fetch")) : fetch(input, init);
      },
    });
    const connection = client.connect();
    const first = connection.conversation("c1");
    await until(first, ({ phase }) => phase === "ready");
    const before = asked.length;
    // Its second attempt comes after the one that the first conversation had planned earlier.
    await until(connection.conversation("c2"), ({ phase }) => phase === "ready");
    expect(asked.slice(before)).toEqual(["c2", "c2"]);
  });

  it("queues a message once, whatever the server answered before", async () => {
    const live = await liveServer();
    const troubles = ["timeout", "store_unavailable", "draining"];
    const said: string[] = [];
    class Troubled extends WebSocket {
      override send(data: string): void {
        super.send(data);
        const { type, messageId } = JSON.parse(data) as { type: string; messageId?: string };
        if (type === "chat.send" && messageId !== undefined) said.push(messageId);
      }
      override addEventListener(...[type, listener]: Parameters<WebSocket["addEventListener"]>): void {
        const receive = listener as (event: { readonly data: unknown }) => void;
        // It arrives each time; the receipt does not.
        super.addEventListener(type, ((event: { readonly data: unknown }) => {
          const isReceipt =
            String(event.data).includes('"chat.receipt"') && String(event.data).includes('"q1"');
          const code = type === "message" && isReceipt ? troubles.shift() : undefined;
          const error = {
            type: "chat.error",
            conversationId: "c1",
            messageId: "q1",
            code,
            message: "Not now",
          };
          receive(code === undefined ? event : { data: JSON.stringify(error) });
        }) as typeof listener);
      }
    }
    const handle = testClient(live.url, { WebSocket: Troubled as unknown as SocketConstructor })
      .connect()
      .conversation("c1");
    await handle.send("wait", { messageId: "m1" });
    await until(handle, hasWord("One moment"));
    const receipt = await handle.send("Second", { ifBusy: "queue", messageId: "q1" });
    expect(receipt).toMatchObject({ outcome: "queued" });
    expect(said).toEqual(["m1", "q1", "q1", "q1", "q1"]);
    const state = await until(handle, ({ queue }) => queue.messages.length > 0);
    expect(state.queue.messages.map(({ id }) => id)).toEqual(["q1"]);
  });

  it("does not let an attempt that hangs hold up the next message, nor one that is canceled", async () => {
    const live = await liveServer();
    const hung = gate();
    let sends = 0;
    let deletes = 0;
    const client = testClient(live.url, {
      pace: { loadMs: 500 },
      WebSocket: class extends WebSocket {
        override send(data: string): void {
          // It gets lost on its way, and the connection does not break.
          if (data.includes('"q1"') && ++sends === 1) hung.open();
          else super.send(data);
        }
      },
      fetch: (input, init) => {
        if (init?.method !== "DELETE" || ++deletes > 1) return fetch(input, init);
        return new Promise((_, reject) => {
          init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        });
      },
    });
    const handle = client.connect().conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    const canceled = handle.send("First", { ifBusy: "queue", messageId: "q1" });
    const queued = handle.send("Second", { ifBusy: "queue", messageId: "q2" });
    await hung.wait();
    handle.cancel("q1");
    await expect(canceled).rejects.toMatchObject({ code: "canceled" });
    expect(await queued).toMatchObject({ outcome: "queued" });
    expect(deletes).toBeGreaterThan(1);
    const state = await until(handle, ({ queue }) => queue.messages.length > 0);
    expect(state.queue.messages.map(({ id }) => id)).toEqual(["q2"]);
  });

  it("removes a canceled message from the queue that arrived without a receipt", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const handle = testClient(network.url).connect().conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    const there = testClient(live.url).connect().conversation("c1");
    // The message arrives, the answer does not.
    network.freeze();
    const queued = handle.send("Second", { ifBusy: "queue", messageId: "q1" });
    await until(there, ({ queue }) => queue.messages.length === 1);
    handle.cancel("q1");
    network.cut();
    network.thaw();
    await expect(queued).rejects.toMatchObject({ code: "canceled" });
    await until(there, ({ queue }) => queue.messages.length === 0);
    await until(handle, ({ queue }) => queue.messages.length === 0);
  });

  it("sends again what has no receipt, and the server takes it once", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const client = testClient(network.url);
    const connection = client.connect();
    const handle = connection.conversation("c1");
    await handle.send("First");
    await until(handle, isIdle);
    // The message arrives, its receipt does not.
    network.freeze();
    const sent = handle.send("wait for this", { messageId: "m2" });
    await live.at.reached;
    network.cut();
    network.thaw();
    expect(await sent).toMatchObject({ messageId: "m2", outcome: "started" });
    live.at.open();
    const state = await until(handle, (each) => isIdle(each) && hasWord("You said: wait for this")(each));
    expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("does not send a message again that is too large for the server, and sends the others", async () => {
    const live = await liveServer({ limits: { frameBytes: 5_000 } });
    const connection = testClient(live.url).connect();
    const handle = connection.conversation("c1");
    const other = connection.conversation("c2");
    await until(connection, ({ phase }) => phase === "open");
    // More characters, but fewer bytes.
    const small = other.send("x".repeat(3_000), { messageId: "m1" });
    const large = handle.send("語".repeat(2_000), { messageId: "m2" });
    await expect(large).rejects.toMatchObject({ code: "too_large", retryable: false });
    expect(handle.getState().messages).toMatchObject([
      { id: "m2", status: "failed", error: { code: "too_large", retryable: false } },
    ]);
    expect(await small).toMatchObject({ messageId: "m1", outcome: "started" });
    handle.cancel("m2");
    await handle.send("Hello");
    expect(lastText(await until(handle, isIdle))).toBe("You said: Hello");
  });

  it("reconnects to a server that was restarted on the same port, in the middle of a turn", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const handle = client.connect().conversation("c1");
    await handle.send("wait");
    await until(handle, hasWord("One moment"));
    await live.stop();
    await until(client.connect(), ({ phase }) => phase === "waiting" || phase === "connecting");
    live.at = gate();
    await live.start();
    const state = await until(handle, (each) => isIdle(each) && each.messages.length === 2 && isKnown(each));
    expect(Object.values(state.turns)).toMatchObject([{ status: "sealed", reason: "interrupted" }]);
    const fresh = await freshState(live.url, "c1");
    expect(state.messages).toEqual(fresh.messages);
    expect(lastText(state)).toBe("One moment. ");
    await handle.send("Hello again");
    const after = await until(handle, (each) => isIdle(each) && hasWord("You said: Hello again")(each));
    expect(after.messages).toHaveLength(4);
  });

  it("stays closed where the server refuses, until a caller tries again", async () => {
    const live = await liveServer({ auth: "keys" });
    const secret = await live.key();
    const stranger = testClient(live.url, { apiKey: "pk_wrong" }).connect();
    const refused = await until(stranger, ({ phase }) => phase === "closed");
    expect(refused.error).toMatchObject({ code: "unauthorized" });
    stranger.retryNow();
    expect(stranger.getState().phase).toBe("connecting");
    await until(stranger, ({ phase }) => phase === "closed");
    const client = testClient(live.url, { apiKey: secret });
    const handle = client.connect().conversation("c1");
    await handle.send("Hello");
    expect(lastText(await until(handle, isIdle))).toBe("You said: Hello");
    await expect(testClient(live.url).request("GET /models")).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("reports what it had not sent as canceled when it is closed", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const connection = testClient(network.url).connect();
    const handle = connection.conversation("c1");
    await until(handle, ({ phase }) => phase === "missing");
    await network.down();
    const sent = handle.send("Hello");
    connection.close();
    await expect(sent).rejects.toMatchObject({ code: "canceled" });
    await expect(handle.send("Anyone?")).rejects.toMatchObject({ code: "canceled" });
    expect(handle.getState().messages.map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(connection.getState().phase).toBe("closed");
    expect(connection.getState().error).toBeUndefined();
  });
});

describe("the list of conversations", () => {
  it("is live: new ones, titles, order, status and removal", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    const { list } = client.connect();
    await client.request("POST /conversations", { body: { id: "a", title: "A" } });
    await until(list, ({ phase }) => phase === "ready");
    await until(list, ({ conversations }) => conversations.length === 1);
    const other = testClient(live.url).connect().conversation("b");
    await other.send("wait");
    await until(
      list,
      ({ conversations }) => conversations[0]?.id === "b" && conversations[0].status === "active",
    );
    live.at.open();
    await until(list, ({ conversations }) => conversations[0]?.status === "idle");
    await client.request("PUT /conversations/:id/title", { params: { id: "a" }, body: { title: "A!" } });
    await until(list, ({ conversations }) => conversations.some(({ title }) => title === "A!"));
    await client.request("DELETE /conversations/:id", { params: { id: "b" } });
    const state = await until(list, ({ conversations }) => conversations.length === 1);
    expect(state).toMatchObject({ phase: "ready", hasMore: false, conversations: [{ id: "a" }] });
  });

  it("comes in pages, and is made good after a break", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const near = testClient(live.url);
    for (let index = 0; index < 60; index += 1) {
      await near.request("POST /conversations", { body: { id: `c${index}` } });
    }
    const connection = testClient(network.url).connect();
    const { list } = connection;
    const first = await until(list, ({ phase }) => phase === "ready");
    expect(first.conversations).toHaveLength(50);
    expect(first.hasMore).toBe(true);
    await list.loadMore();
    expect(list.getState()).toMatchObject({ hasMore: false });
    expect(new Set(list.getState().conversations.map(({ id }) => id)).size).toBe(60);
    await list.loadMore();
    expect(list.getState().conversations).toHaveLength(60);
    await network.down();
    await near.request("DELETE /conversations/:id", { params: { id: "c7" } });
    await network.up();
    await until(list, ({ conversations }) => conversations.length === 59);
  });

  it("has pinned ones first, also those behind the first page, and receives pins", async () => {
    const live = await liveServer();
    const near = testClient(live.url);
    for (let n = 0; n < 53; n += 1) await near.request("POST /conversations", { body: { id: `c${n}` } });
    const pin = (id: string, pinned: boolean) =>
      near.request("PUT /conversations/:id/pinned", { params: { id }, body: { pinned } });
    await pin("c1", true);
    const { list } = testClient(live.url).connect();
    const ids = ({ conversations }: ConversationListState) => conversations.map(({ id }) => id);
    const first = await until(list, ({ phase }) => phase === "ready");
    expect(ids(first).slice(0, 3)).toEqual(["c1", "c52", "c51"]);
    expect([first.conversations.length, first.hasMore]).toEqual([50, true]);
    // Not loaded, older than what is, and pinned elsewhere.
    await pin("c0", true);
    await until(list, (state) => ids(state)[1] === "c0");
    await pin("c1", false);
    await until(list, (state) => ids(state)[0] === "c0" && ids(state)[1] === "c52");
    await list.loadMore();
    expect(ids(list.getState())).toEqual(["c0", ...Array.from({ length: 52 }, (_, n) => `c${52 - n}`)]);
  });

  it("can be of one model, loads and changes with it, and is quiet while it is not shown", async () => {
    const live = await liveServer();
    const near = testClient(live.url);
    const [model = "", other = ""] = (await near.request("GET /models")).models;
    expect(other).not.toBe("");
    const setModel = (id: string, name: string) =>
      near.request("PUT /conversations/:id/model", { params: { id }, body: { model: name } });
    for (const id of ["a", "b", "c"]) await near.request("POST /conversations", { body: { id, model } });
    await setModel("b", other);
    const connection = testClient(live.url).connect();
    await until(connection, ({ phase }) => phase === "open");
    const list = connection.listOf({ model: other });
    const ids = ({ conversations }: ConversationListState) => conversations.map(({ id }) => id);
    const stop = list.subscribe(() => {});
    await until(list, ({ phase }) => phase === "ready");
    expect(ids(list.getState())).toEqual(["b"]);
    await setModel("a", other);
    await until(list, (state) => ids(state).includes("a"));
    await setModel("b", model);
    await until(list, (state) => !ids(state).includes("b"));
    await near.request("DELETE /conversations/:id", { params: { id: "a" } });
    await until(list, (state) => ids(state).length === 0);
    stop();
    await setModel("c", other);
    await until(connection.list, ({ conversations }) =>
      conversations.some(({ id, effective }) => id === "c" && effective?.model === other),
    );
    expect(ids(list.getState())).toEqual([]);
    await until(list, (state) => ids(state).includes("c"));
  });

  it("is read again when the connection comes back while an older answer is on its way", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    const near = testClient(live.url);
    await near.request("POST /conversations", { body: { id: "before" } });
    const held = gate();
    const client = testClient(network.url, {
      fetch: async (input, init) => {
        const response = await fetch(String(input).replace(network.url, live.url), init);
        if (String(input).includes("/conversations?")) await held.wait();
        return response;
      },
    });
    const connection = client.connect();
    await until(connection, ({ phase }) => phase === "open");
    const { list } = connection;
    expect(list.getState().phase).toBe("loading");
    await held.reached;
    await network.down();
    await until(connection, ({ phase }) => phase !== "open");
    await near.request("POST /conversations", { body: { id: "meanwhile" } });
    await network.up();
    await until(connection, ({ phase }) => phase === "open");
    held.open();
    const ids = (state: ConversationListState) => state.conversations.map(({ id }) => id);
    await until(list, (state) => ids(state).includes("meanwhile"));
    expect(ids(list.getState())).toEqual(["meanwhile", "before"]);
  });

  it("gives up an answer that does not come, and can be loaded again", async () => {
    const live = await liveServer();
    const connection = testClient(live.url, {
      fetch: firstNeverAnswered("/conversations?"),
      pace: { loadMs: 1_000 },
    }).connect();
    await until(connection, ({ phase }) => phase === "open");
    const { list } = connection;
    const failed = await until(list, ({ phase }) => phase !== "loading");
    expect(failed).toMatchObject({ phase: "failed", error: { code: "timeout", retryable: true } });
    await list.refresh();
    expect(list.getState().phase).toBe("ready");
  });

  it("says when it cannot be loaded, and is loaded once it can", async () => {
    const live = await liveServer();
    const network = await networkTo(live.server);
    await network.down();
    const { list } = testClient(network.url).connect();
    const failed = await until(list, ({ phase }) => phase === "failed");
    expect(failed.error).toMatchObject({ code: "network", retryable: true });
    await network.up();
    await until(list, ({ phase }) => phase === "ready");
  });

  it("passes on that a conversation should be shown", async () => {
    const live = await liveServer();
    const client = testClient(live.url);
    await client.request("POST /conversations", { body: { id: "a" } });
    const connection = client.connect();
    await until(connection, ({ phase }) => phase === "open");
    const asked = new Promise<string>((resolve) => {
      const stop = connection.onOpenRequest((id) => {
        stop();
        resolve(id);
      });
    });
    // Every connected client is notified; this one is connected as soon as it follows something.
    await until(
      connection.conversation("a"),
      ({ phase, cursor }) => phase === "ready" && cursor !== undefined,
    );
    await client.request("POST /conversations/:id/open", { params: { id: "a" } });
    expect(await asked).toBe("a");
  });
});
