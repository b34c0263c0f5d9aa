import type { ErrorCode } from "@parley/core/errors";

/** One action of the demo model. */
export type Beat =
  | { readonly kind: "think"; readonly text: string }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: "fail"; readonly code: ErrorCode; readonly message: string };

export const think = (text: string): Beat => ({ kind: "think", text });
export const say = (text: string): Beat => ({ kind: "say", text });
export const call = (tool: string, input: Readonly<Record<string, unknown>>): Beat => ({
  kind: "call",
  tool,
  input,
});
