import { ParleyRequestError } from "@parley/client";
import { errorWords } from "../conversation/parts/error-words.js";
import { showToast } from "./toasts.js";

/** Tells that something did not work: what, and why in words. */
export function reportFailure(what: string, error: unknown): void {
  const { title, advice } = errorWords(error instanceof ParleyRequestError ? error.code : undefined);
  showToast({ message: `${what}: ${title.toLowerCase()}. ${advice}`.trim() });
}
