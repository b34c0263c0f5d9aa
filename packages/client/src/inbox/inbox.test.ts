import type { PendingQuery, PendingRequest, PendingResponse, WaitingInfo } from "@parley/wire";
import { describe, expect, it, vi } from "vitest";
import type { ConnectionState } from "../connection/connection.js";
import { ParleyRequestError } from "../requests/request-error.js";
import { createInbox } from "./inbox.js";

function request(conversationId: string, requestId: string, createdAt: number): PendingRequest {
  return { conversationId, requestId, createdAt } as PendingRequest;
}

/** A server that the test controls: its responses come when the test sends them. */
function serving(requests: PendingRequest[], most = 100) {
  const asked: { query: PendingQuery; answer: (by?: Error) => void }[] = [];
  const listeners = new Set<(conversationId: string, waiting: WaitingInfo | undefined) => void>();
  const stateListeners = new Set<() => void>();
  let phase: ConnectionState["phase"] = "open";
  const inbox = createInbox({
    client: {
      request: ((_: string, { query }: { query: PendingQuery }) =>
        new Promise<PendingResponse>((resolve, reject) => {
          const found = requests.filter(
            ({ conversationId }) =>
              query.conversationId === undefined || conversationId === query.conversationId,
          );
          const page = {
            pending: found.slice(0, most),
            ...(found.length > most ? { nextAfter: "more" } : {}),
          };
          asked.push({ query, answer: (error) => (error === undefined ? resolve(page) : reject(error)) });
        })) as never,
    },
    connection: {
      getState: () => ({ phase, attempt: 0, everOpen: true }),
      subscribe(listener) {
        stateListeners.add(listener);
        return () => stateListeners.delete(listener);
      },
      onWaiting(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    schedule: queueMicrotask,
  });
  return {
    inbox,
    asked,
    ids: () => inbox.getState().requests.map(({ requestId }) => requestId),
    async answer(place: number, error?: Error) {
      asked[place]?.answer(error);
      await new Promise(setImmediate);
    },
    notify(conversationId: string, count: number) {
      const waiting = count === 0 ? undefined : { turnId: "t", count, kinds: ["approval" as const] };
      for (const listener of listeners) listener(conversationId, waiting);
    },
    turn(next: ConnectionState["phase"]) {
      phase = next;
      for (const listener of stateListeners) listener();
    },
  };
}

describe("the inbox", () => {
  it("asks when it is first read, and then only for the conversation that changed", async () => {
    const requests = [request("a", "a1", 1), request("b", "b1", 3)];
    const server = serving(requests);
    server.notify("a", 1);
    expect(server.asked).toEqual([]);
    const onChange = vi.fn();
    server.inbox.subscribe(onChange);
    expect(server.inbox.getState().phase).toBe("loading");
    await server.answer(0);
    expect([server.ids(), server.inbox.getState().phase]).toEqual([["a1", "b1"], "ready"]);
    expect(onChange).toHaveBeenCalledTimes(1);
    requests.push(request("c", "c1", 2));
    server.notify("c", 1);
    await server.answer(1);
    expect(server.asked[1]?.query).toMatchObject({ conversationId: "c" });
    expect(server.ids()).toEqual(["a1", "c1", "b1"]);
    // One that ends or continues is known without a request; one that never waited changes nothing.
    server.notify("a", 0);
    server.notify("z", 0);
    expect(server.ids()).toEqual(["c1", "b1"]);
    expect(server.asked).toHaveLength(2);
  });

  it("takes no answer that is older than a change", async () => {
    const requests = [request("a", "a1", 1)];
    const server = serving(requests);
    server.inbox.getState();
    // Decided while the list is loading.
    server.notify("a", 0);
    await server.answer(0);
    requests.length = 0;
    await server.answer(1);
    expect(server.asked).toHaveLength(2);
    requests.push(request("a", "a2", 2));
    server.notify("a", 1);
    server.notify("a", 0);
    expect(server.asked).toHaveLength(3);
    await server.answer(2);
    expect(server.ids()).toEqual([]);
  });

  it("lists the next ones when some of a list that is cut off are decided", async () => {
    const requests = [request("a", "a1", 1), request("b", "b1", 2), request("c", "c1", 3)];
    const server = serving(requests, 2);
    server.inbox.getState();
    await server.answer(0);
    expect([server.ids(), server.inbox.getState().hasMore]).toEqual([["a1", "b1"], true]);
    requests.shift();
    server.notify("a", 0);
    await server.answer(1);
    expect([server.ids(), server.inbox.getState().hasMore]).toEqual([["b1", "c1"], false]);
  });

  it("is loaded again after a break, and keeps what it shows when that fails", async () => {
    const requests = [request("a", "a1", 1)];
    const server = serving(requests);
    server.inbox.getState();
    await server.answer(0);
    server.turn("waiting");
    server.turn("open");
    await server.answer(1, new ParleyRequestError("network", "Gone", { retryable: true }));
    expect(server.inbox.getState()).toMatchObject({ phase: "ready", error: { code: "network" } });
    expect(server.ids()).toEqual(["a1"]);
    requests.length = 0;
    const both = [server.inbox.refresh(), server.inbox.refresh()];
    await server.answer(2);
    await server.answer(3);
    await Promise.all(both);
    expect(server.inbox.getState()).toEqual({ phase: "ready", requests: [], hasMore: false });
  });
});
