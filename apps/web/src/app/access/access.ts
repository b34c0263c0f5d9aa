import { type ParleyClient, ParleyRequestError } from "@parley/client";
import type { MeResponse } from "@parley/wire";
import { create } from "zustand";

/** Access of this browser to the server. */
export type AccessState =
  | { readonly phase: "asking" }
  | { readonly phase: "granted"; readonly me: MeResponse }
  /** The server requires a key. */
  | { readonly phase: "login" }
  | { readonly phase: "unreachable"; readonly message: string };

/** State of this browser's access, as the server reports it. */
export const useAccess = create<AccessState>()(() => ({ phase: "asking" }));

/** Returns true if our key may change something. Without that, the page is read-only. */
export function useMayWrite(): boolean {
  return useAccess(
    (state) =>
      state.phase !== "granted" || state.me.scopes.some((scope) => scope === "write" || scope === "admin"),
  );
}

/** Reads our access from the server. */
export async function askAccess(client: ParleyClient): Promise<void> {
  useAccess.setState({ phase: "asking" }, true);
  try {
    const me = await client.request("GET /me");
    useAccess.setState({ phase: "granted", me }, true);
  } catch (error) {
    refuse(error);
  }
}

/** Exchanges a key for a login. Resolves with the problem of the key, or with undefined. */
export async function login(client: ParleyClient, key: string): Promise<string | undefined> {
  try {
    const me = await client.request("POST /login", { body: { key } });
    // A refused connection stays closed until a retry is requested, and would show the login again at once.
    client.connect().retryNow();
    useAccess.setState({ phase: "granted", me }, true);
    return undefined;
  } catch (error) {
    if (!(error instanceof ParleyRequestError) || error.status === 0) return "The server cannot be reached.";
    if (error.code === "unauthorized") return "The server does not know this key.";
    if (error.code === "rate_limited" || error.code === "limit_exceeded")
      return "Too many wrong keys came from your address. Wait a minute, and check the key.";
    return error.message;
  }
}

/** Handles a login that the server no longer accepts. */
export function loseAccess(): void {
  useAccess.setState({ phase: "login" }, true);
}

function refuse(error: unknown): void {
  if (error instanceof ParleyRequestError && (error.status === 401 || error.code === "unauthorized")) {
    loseAccess();
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  useAccess.setState({ phase: "unreachable", message }, true);
}
