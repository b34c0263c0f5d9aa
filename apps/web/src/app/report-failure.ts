import { ParleyRequestError } from "@parley/client";
import { errorWords } from "../conversation/parts/error-words.js";
import { showToast } from "./toasts.js";

/** Shows a note about a failed action: its name, and the reason in words. */
export function reportFailure(what: string, error: unknown): void {
  const { title, advice } = errorWords(error instanceof ParleyRequestError ? error.code : undefined);
  showToast({ message: `${what}: ${title.toLowerCase()}. ${advice}`.trim() });
}
