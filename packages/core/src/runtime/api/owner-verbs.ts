import { ParleyError } from "../../errors.js";
import { fileVerbs } from "../files/file-verbs.js";
import { inputVerbs } from "../input/input-verbs.js";
import { offeredTools, toolsReady } from "../offered-tools.js";
import type { Services } from "../services.js";
import { runUnkept } from "../turns/unkept-turn.js";
import { webhookVerbs } from "../webhooks/webhook-verbs.js";
import { conversationVerbs } from "./conversation-verbs.js";
import type { OwnerRuntime } from "./owner-runtime.js";
import { ownerScope } from "./owner-scope.js";
import { queueVerbs } from "./queue-verbs.js";
import { readingVerbs } from "./reading-verbs.js";

/** Creates one owner's operations. */
export function createOwnerRuntime(services: Services, owner: string): OwnerRuntime {
  const { env, inbox, subscriptions, compactions } = services;
  const scope = ownerScope(services, owner);
  const { store } = scope;
  return {
    send: (input) => inbox.send(owner, input),
    async *chat(input) {
      const { conversationId, turnId } = await inbox.send(owner, { ...input, ifBusy: "reject" });
      // It was sent before with a queue mode, and its turn has not opened yet.
      if (turnId === undefined) throw new ParleyError("turn_active", "The message waits in the queue");
      yield* subscriptions.events(owner, conversationId, turnId);
    },
    async tools() {
      await toolsReady(env, owner);
      return offeredTools(env, owner);
    },
    runUnkept: (input) => runUnkept(scope, input),
    queue: queueVerbs(scope),
    input: inputVerbs(scope),
    webhooks: webhookVerbs(scope),
    files: fileVerbs(scope),
    ...conversationVerbs(scope),
    ...readingVerbs(scope),
    compact: (conversationId, request = {}) => compactions.compact(owner, store, conversationId, request),
    previewCompaction: (conversationId, request = {}) => compactions.preview(store, conversationId, request),
    subscribe: (conversationId, cursor) => subscriptions.subscribe(owner, conversationId, cursor),
    checkCursor: (conversationId, cursor) => subscriptions.check(owner, conversationId, cursor),
    attach: (conversationId, cursor, subscriber) =>
      subscriptions.attach(owner, conversationId, cursor, subscriber),
    followTurn: (conversationId, turnId, follower) =>
      subscriptions.followTurn(owner, conversationId, turnId, follower),
    events: (conversationId, turnId) => subscriptions.events(owner, conversationId, turnId),
    watch: (listener) => env.watchers.watch(owner, listener),
  };
}
