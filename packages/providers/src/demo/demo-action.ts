import type { ErrorCode } from "@parley/core/errors";

/** One action of the demo model. */
export type DemoAction =
  | { readonly kind: "think"; readonly text: string }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: "fail"; readonly code: ErrorCode; readonly message: string };

export const think = (text: string): DemoAction => ({ kind: "think", text });
export const say = (text: string): DemoAction => ({ kind: "say", text });
export const call = (tool: string, input: Readonly<Record<string, unknown>>): DemoAction => ({
  kind: "call",
  tool,
  input,
});
