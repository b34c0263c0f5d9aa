import { omitUndefined } from "@parley/core/messages";
import type { ConversationSettings } from "@parley/core/ports";
import type { OwnerRuntime, SettingsChange } from "@parley/core/runtime";
import { endpoint } from "../http/endpoint.js";
import { conversationParams } from "../schemas/conversation.js";
import {
  compactThresholdSetting,
  instructionsSetting,
  modelSetting,
  pinnedSetting,
  reasoningEffortSetting,
  temporarySetting,
  titleSetting,
} from "../schemas/settings.js";
import { isUnknown } from "./conversations.js";

const shared = { params: conversationParams };

async function titleOf(me: OwnerRuntime, id: string) {
  return { title: (await me.settings(id)).title ?? "" };
}
async function pinnedOf(me: OwnerRuntime, id: string) {
  return { pinned: (await me.settings(id)).pinned === true };
}
async function modelOf(me: OwnerRuntime, id: string) {
  const { model, effective } = await me.settings(id);
  return {
    model: model ?? null,
    ...(effective.model === undefined
      ? {}
      : { effective: effective.model, effectiveFrom: effective.modelFrom }),
  };
}
async function effortOf(me: OwnerRuntime, id: string) {
  const { reasoningEffort, effective } = await me.settings(id);
  return { reasoningEffort: reasoningEffort ?? null, effective: effective.reasoningEffort };
}
async function instructionsOf(me: OwnerRuntime, id: string) {
  return { instructions: (await me.settings(id)).instructions ?? null };
}
async function thresholdOf(me: OwnerRuntime, id: string) {
  const { compactThreshold, defaultThreshold } = await me.settings(id);
  return {
    compactThreshold: compactThreshold ?? null,
    ...omitUndefined({ defaultThreshold }),
  };
}

async function temporaryOf(me: OwnerRuntime, id: string) {
  return { temporary: (await me.settings(id)).temporary === true };
}

/** Changes a setting. An unused id becomes a conversation with it, as its first message would create it. */
async function change(me: OwnerRuntime, id: string, setting: SettingsChange): Promise<void> {
  try {
    await me.set(id, setting);
  } catch (error) {
    if (!isUnknown(error)) throw error;
    const { created } = await me.create({ id, ...withoutNull(setting) });
    if (!created) await me.set(id, setting);
  }
}

function withoutNull(setting: SettingsChange): ConversationSettings {
  return Object.fromEntries(Object.entries(setting).filter(([, value]) => value !== null));
}

export const settingsEndpoints = [
  endpoint("GET /conversations/:id/title", {
    operationId: "getTitle",
    ...shared,
    summary: "Read the title",
    access: "read",
    response: titleSetting,
    handle: ({ me, params }) => titleOf(me, params.id),
  }),
  endpoint("PUT /conversations/:id/title", {
    operationId: "setTitle",
    refusals: [409],
    ...shared,
    summary: "Set the title",
    access: "write",
    body: titleSetting,
    response: titleSetting,
    handle: async ({ me, params, body }) => {
      await change(me, params.id, { title: body.title });
      return titleOf(me, params.id);
    },
  }),
  endpoint("GET /conversations/:id/pinned", {
    operationId: "getPinned",
    ...shared,
    summary: "Read whether the conversation is pinned",
    access: "read",
    response: pinnedSetting,
    handle: ({ me, params }) => pinnedOf(me, params.id),
  }),
  endpoint("PUT /conversations/:id/pinned", {
    operationId: "setPinned",
    refusals: [409],
    ...shared,
    summary: "Pin the conversation, or unpin it",
    access: "write",
    body: pinnedSetting,
    response: pinnedSetting,
    handle: async ({ me, params, body }) => {
      // Only an existing conversation can be pinned: an unknown id creates none.
      await me.set(params.id, { pinned: body.pinned || null });
      return pinnedOf(me, params.id);
    },
  }),
  endpoint("GET /conversations/:id/model", {
    operationId: "getModel",
    ...shared,
    summary: "Read the conversation's own model, and the one its next turn uses",
    access: "read",
    response: modelSetting,
    handle: ({ me, params }) => modelOf(me, params.id),
  }),
  endpoint("PUT /conversations/:id/model", {
    operationId: "setModel",
    refusals: [409],
    ...shared,
    summary: "Set the model; null goes on with that of the last turn",
    access: "write",
    body: modelSetting,
    response: modelSetting,
    handle: async ({ me, params, body }) => {
      await change(me, params.id, { model: body.model });
      return modelOf(me, params.id);
    },
  }),
  endpoint("GET /conversations/:id/reasoning-effort", {
    operationId: "getReasoningEffort",
    ...shared,
    summary: "Read the conversation's own effort, and the one its next turn uses",
    access: "read",
    response: reasoningEffortSetting,
    handle: ({ me, params }) => effortOf(me, params.id),
  }),
  endpoint("PUT /conversations/:id/reasoning-effort", {
    operationId: "setReasoningEffort",
    refusals: [409],
    ...shared,
    summary: "Set the effort",
    access: "write",
    body: reasoningEffortSetting,
    response: reasoningEffortSetting,
    handle: async ({ me, params, body }) => {
      await change(me, params.id, { reasoningEffort: body.reasoningEffort });
      return effortOf(me, params.id);
    },
  }),
  endpoint("GET /conversations/:id/instructions", {
    operationId: "getInstructions",
    ...shared,
    summary: "Read the conversation's own instructions; null is the server's",
    access: "read",
    response: instructionsSetting,
    handle: ({ me, params }) => instructionsOf(me, params.id),
  }),
  endpoint("PUT /conversations/:id/instructions", {
    operationId: "setInstructions",
    refusals: [409],
    ...shared,
    summary: "Set the instructions",
    access: "write",
    body: instructionsSetting,
    response: instructionsSetting,
    handle: async ({ me, params, body }) => {
      await change(me, params.id, { instructions: body.instructions });
      return instructionsOf(me, params.id);
    },
  }),
  endpoint("GET /conversations/:id/compact-threshold", {
    operationId: "getCompactThreshold",
    ...shared,
    summary: "Read the tokens above which the conversation is compacted; 0 is never, null the default",
    access: "read",
    response: compactThresholdSetting,
    handle: ({ me, params }) => thresholdOf(me, params.id),
  }),
  endpoint("PUT /conversations/:id/compact-threshold", {
    operationId: "setCompactThreshold",
    refusals: [409],
    ...shared,
    summary: "Set the threshold; null is the default",
    access: "write",
    body: compactThresholdSetting,
    response: compactThresholdSetting,
    handle: async ({ me, params, body }) => {
      await change(me, params.id, { compactThreshold: body.compactThreshold });
      return thresholdOf(me, params.id);
    },
  }),
  endpoint("GET /conversations/:id/temporary", {
    operationId: "getTemporary",
    ...shared,
    summary: "Read if the conversation is temporary",
    access: "read",
    response: temporarySetting,
    handle: ({ me, params }) => temporaryOf(me, params.id),
  }),
  endpoint("PUT /conversations/:id/temporary", {
    operationId: "setTemporary",
    refusals: [409],
    ...shared,
    summary: "Keep a temporary conversation, or make one temporary",
    access: "write",
    body: temporarySetting,
    response: temporarySetting,
    // An unknown id creates no conversation: a client that keeps one must learn that it was deleted.
    handle: async ({ me, params, body }) => {
      await me.set(params.id, { temporary: body.temporary ? true : null });
      return temporaryOf(me, params.id);
    },
  }),
];
