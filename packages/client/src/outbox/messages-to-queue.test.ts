import type { EnqueueResponse } from "@parley/wire";
import { beforeEach, describe, expect, it } from "vitest";
import type { Request } from "../requests/request.js";
import { ParleyRequestError } from "../requests/request-error.js";
import type { ConversationState } from "../state/conversation-state.js";
import { initialState } from "../state/fold.js";
import { conversationId } from "../state/frames.test-support.js";
import { MessagesToQueue } from "./messages-to-queue.js";

const answer: EnqueueResponse = { conversationId, startedTurn: false, queue: { messages: [] } };
const away = new ParleyRequestError("network", "The server cannot be reached");

let state: ConversationState;
/** What was asked for, in order. */
let asked: string[];
/** What the server does with each request: an answer or an error; where it says nothing, it takes everything. */
let replies: (Promise<EnqueueResponse> | ParleyRequestError)[];
/** What happens while it is waited. */
let onPause: () => boolean;
let messages: MessagesToQueue;

const idsOf = () => state.unsent.map(({ id }) => id);

beforeEach(() => {
  state = initialState(conversationId);
  asked = [];
  replies = [];
  onPause = () => true;
  const request = async (
    name: string,
    input: { params: { messageId?: string }; body?: { text: string } },
  ) => {
    asked.push(`${name.split(" ")[0]} ${input.body?.text ?? input.params.messageId}`);
    const reply = replies.shift() ?? answer;
    if (reply instanceof Error) throw reply;
    return reply;
  };
  messages = new MessagesToQueue({
    conversationId,
    request: request as unknown as Request,
    requestMs: 60_000,
    change: (by) => {
      state = by(state);
    },
    take: (call) => call,
    pause: async () => onPause(),
  });
});

describe("messages to a queue", () => {
  it("are unsent until the server has them, and go one after the other", async () => {
    replies = [away, away];
    onPause = () => {
      expect(idsOf()).toEqual(["q1", "q2"]);
      return true;
    };
    const both = [
      messages.enqueue("First", { mode: "queue", messageId: "q1" }),
      messages.enqueue("Second", { messageId: "q2" }),
    ];
    expect(state.unsent).toEqual([
      { id: "q1", text: "First", mode: "queue" },
      { id: "q2", text: "Second", mode: "steer" },
    ]);
    expect(messages.isBusy).toBe(true);
    await Promise.all(both);
    expect(asked).toEqual(["POST First", "POST First", "POST First", "POST Second"]);
    expect(idsOf()).toEqual([]);
    expect(messages.isBusy).toBe(false);
  });

  it.each(["network", "timeout", "draining", "store_unavailable"] as const)(
    "are sent again, and taken back again, after %s, which decides nothing",
    async (code) => {
      const passing = new ParleyRequestError(code, "Not now");
      replies = [passing];
      await messages.enqueue("First", { messageId: "q1" });
      replies = [passing, passing];
      onPause = () => {
        messages.discard("q2");
        return true;
      };
      const second = messages.enqueue("Second", { messageId: "q2" });
      await expect(second).rejects.toMatchObject({ code: "canceled" });
      expect(asked).toEqual(["POST First", "POST First", "POST Second", "DELETE q2", "DELETE q2"]);
    },
  );

  it.each(["queue_full", "limit_exceeded", "rate_limited", "internal"] as const)(
    "are refused with %s",
    async (code) => {
      replies = [new ParleyRequestError(code, "No", { retryable: true })];
      await expect(messages.enqueue("First", { messageId: "q1" })).rejects.toMatchObject({ code });
      expect(asked).toEqual(["POST First"]);
    },
  );

  it("are one message under one id", async () => {
    const sent = messages.enqueue("First", { messageId: "q1" });
    expect(messages.enqueue("First", { messageId: "q1" })).toBe(sent);
    await sent;
    expect(asked).toEqual(["POST First"]);
  });

  it("are no longer unsent when they are refused, or given up, and the next one goes all the same", async () => {
    replies = [new ParleyRequestError("queue_full", "The queue is full"), away];
    onPause = () => false;
    const refused = messages.enqueue("First", { messageId: "q1" });
    const givenUp = messages.enqueue("Second", { messageId: "q2" });
    const taken = messages.enqueue("Third", { messageId: "q3" });
    await expect(refused).rejects.toMatchObject({ code: "queue_full" });
    await expect(givenUp).rejects.toMatchObject({ code: "network" });
    expect(await taken).toBe(answer);
    expect(idsOf()).toEqual([]);
  });

  it("are not sent when they are discarded before that", async () => {
    const first = messages.enqueue("First", { messageId: "q1" });
    const second = messages.enqueue("Second", { messageId: "q2" });
    messages.discard("q2");
    messages.discard("other");
    expect(idsOf()).toEqual(["q1"]);
    await first;
    await expect(second).rejects.toMatchObject({ code: "canceled" });
    expect(asked).toEqual(["POST First"]);
  });

  it("are taken back when they are discarded and may have come through", async () => {
    replies = [away, away];
    onPause = () => {
      messages.discard("q1");
      expect(idsOf()).toEqual([]);
      expect(messages.isBusy).toBe(true);
      return true;
    };
    await expect(messages.enqueue("First", { messageId: "q1" })).rejects.toMatchObject({ code: "canceled" });
    expect(asked).toEqual(["POST First", "DELETE q1", "DELETE q1"]);
  });

  it("are taken back when they come through after all, unless they were delivered", async () => {
    let arrive: (value: EnqueueResponse) => void = () => {};
    const late = new Promise<EnqueueResponse>((resolve) => {
      arrive = resolve;
    });
    replies = [late, new ParleyRequestError("message_conflict", "It was delivered")];
    const sent = messages.enqueue("First", { messageId: "q1" });
    await Promise.resolve();
    messages.discard("q1");
    arrive(answer);
    await expect(sent).rejects.toMatchObject({ code: "canceled" });
    expect(asked).toEqual(["POST First", "DELETE q1"]);
  });
});
