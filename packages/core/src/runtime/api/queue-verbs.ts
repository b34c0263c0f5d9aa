import { omitUndefined } from "@parley/fold";
import { invalidField } from "../../errors.js";
import { toQueuePayload } from "../delivery/watchers.js";
import { defaultModelOf } from "../models.js";
import type { QueueApi } from "./owner-runtime.js";
import type { OwnerScope } from "./owner-scope.js";
import { untilSealed } from "./until-sealed.js";

/** Creates one owner's operations on the queues of its conversations. */
export function queueVerbs(scope: OwnerScope): QueueApi {
  const { env, owner, store, inbox, coordinator, changed } = scope;
  return {
    list: async (conversationId) => toQueuePayload(await store.queue(conversationId, { op: "list" })),
    add: ({ mode = "steer", ...input }) => inbox.send(owner, { ...input, ifBusy: mode }),
    async edit(conversationId, messageId, change) {
      const { text, mode, model, reasoningEffort, before } = change;
      if (text !== undefined && text.trim() === "") {
        throw invalidField("text", "must not be empty; remove the message instead");
      }
      if (text !== undefined) inbox.checkSize("text", [{ type: "text", text }]);
      if (typeof model === "string") env.models.resolve(model);
      const { log } = await scope.find(conversationId);
      const queue = await store.queue(conversationId, {
        op: "edit",
        id: messageId,
        ...omitUndefined({ text, mode, model, reasoningEffort, before }),
      });
      changed(log);
      return toQueuePayload(queue);
    },
    async remove(conversationId, messageId) {
      const { log } = await scope.find(conversationId);
      const queue = await store.queue(conversationId, { op: "remove", id: messageId });
      changed(log);
      return toQueuePayload(queue);
    },
    async resume(conversationId) {
      inbox.checkReady(owner);
      inbox.checkCapacity(owner);
      // A turn that is being stopped pauses the queue when it ends: requests after the stop take effect after that.
      const { active, log } = await scope.find(conversationId);
      if (active?.purpose === "turn" && active.stopRequested)
        await untilSealed(scope, conversationId, active.turnId);
      const turnId = env.ids.next();
      const { node } = env.identity;
      const { started, ...queue } = await inbox.opening(owner, conversationId, turnId, () =>
        store.queue(conversationId, { op: "resume", node, turnId, ...defaultModelOf(env.models) }),
      );
      changed(log);
      if (started !== undefined) coordinator.run(owner, conversationId, started);
      return { queue: toQueuePayload(queue), ...(started === undefined ? {} : { turnId: started.turnId }) };
    },
  };
}
