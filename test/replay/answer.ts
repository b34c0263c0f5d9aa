/**
 * Output of a model in one call, independent of the protocol. Rendered into the events of each provider by the files
 * beside this one.
 */
export interface Answer {
  readonly pieces: readonly Piece[];
  /** End of the answer. Default: `stop`, or the model's way to request tools. */
  readonly ends?: "length" | "refused" | "failed";
}

export type Piece =
  /** Reasoning, which the model signs or encrypts; `hidden` shows nothing of it. */
  | { readonly type: "think"; readonly text: string; readonly hidden?: boolean }
  | { readonly type: "say"; readonly text: string; readonly cites?: string }
  | { readonly type: "refuse"; readonly text: string }
  /** `id` overrides the one that the provider would make, if its protocol lets a model choose. */
  | { readonly type: "call"; readonly name: string; readonly args: string; readonly id?: string }
  /** Something that only the provider's own tools make, and something unknown. */
  | { readonly type: "search" }
  | { readonly type: "unknown" }
  /** An image that the model made. */
  | { readonly type: "draw" };

export const think = (text: string): Piece => ({ type: "think", text: `${thoughtMark} ${text}` });
export const thinkHidden = (): Piece => ({ type: "think", text: "", hidden: true });
export const say = (text: string): Piece => ({ type: "say", text });
export const cite = (text: string, cites: string): Piece => ({ type: "say", text, cites });
export const refuse = (text: string): Piece => ({ type: "refuse", text });
export const call = (name: string, args: string, id?: string): Piece =>
  id === undefined ? { type: "call", name, args } : { type: "call", name, args, id };
export const search: Piece = { type: "search" };
export const unknown: Piece = { type: "unknown" };
export const draw: Piece = { type: "draw" };

/** Part of everything that only its maker may read again: signatures, encrypted content, ids of items. */
export const secretMark = "eyesonly";
/** Part of all reasoning of a model. */
export const thoughtMark = "Thinking:";

/** One red dot. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** The beginning of a PDF document: no reader here needs more. */
export const pdf = "JVBERi0xLjQKJSVFT0YK";
