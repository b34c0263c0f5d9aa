import type { ConversationMeta } from "@parley/wire";
import { expect, it } from "vitest";
import type { Request } from "../requests/request.js";
import { createConversationList } from "./conversation-list.js";

const meta = (id: string, more: Partial<ConversationMeta> = {}): ConversationMeta => ({
  id,
  createdAt: 1,
  lastActivityAt: 1,
  title: id,
  status: "idle",
  ...more,
});

it("leaves temporary conversations out, also those that it received while it loaded", async () => {
  let answer: (page: object) => void = () => {};
  const request = (() =>
    new Promise((resolve) => {
      answer = resolve;
    })) as unknown as Request;
  const { handle, listener } = createConversationList(request, (work) => work(), 60_000);
  const ids = () => handle.getState().conversations.map(({ id }) => id);
  const loaded = handle.refresh();
  listener.onUpdated(meta("received"));
  listener.onUpdated(meta("hidden", { temporary: true }));
  answer({ conversations: [meta("plain")] });
  await loaded;
  expect(ids()).toEqual(["received", "plain"]);
  listener.onUpdated(meta("later", { temporary: true }));
  expect(ids()).toEqual(["received", "plain"]);
  listener.onUpdated(meta("plain", { temporary: true }));
  expect(ids()).toEqual(["received"]);
  listener.onUpdated(meta("later", { lastActivityAt: 2 }));
  expect(ids()).toEqual(["later", "received"]);
});
