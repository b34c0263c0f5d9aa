import { ParleyRequestError } from "@parley/client";

/** An error in words. What is not known as one of the server's has no words for people. */
export function problemText(error: unknown): string {
  if (error instanceof ParleyRequestError) {
    return error.status === 0 && error.code === "network" ? "The server cannot be reached." : error.message;
  }
  return "Something unexpected happened.";
}
