import { ParleyRequestError } from "@parley/client";

/** Returns an error in words. An error that is not the server's has no words for users. */
export function problemText(error: unknown): string {
  if (error instanceof ParleyRequestError) {
    return error.status === 0 && error.code === "network" ? "The server cannot be reached." : error.message;
  }
  return "Something unexpected happened.";
}
