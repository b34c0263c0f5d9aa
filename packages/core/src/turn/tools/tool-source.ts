import type { ToolServerInfo } from "@parley/wire";
import type { Tool } from "./tool.js";

/**
 * The experimental capability by which Parley, as a server of tools, says which store its conversations are in:
 * `{ id }`. A Parley that would be offered tools of its own conversations can refuse them.
 */
export const storeCapability = "parley/store";

/** A place that tools come from, whose list may change while a node runs. */
export interface ToolSource {
  /**
   * The tools that it offers an owner now. The same list as long as nothing changes; owners that are offered the same
   * may get the same one.
   */
  tools(owner: string): readonly Tool<never>[];
  /** The state of its servers, for an owner; without one, of those that all owners share. */
  servers(owner?: string): readonly ToolServerInfo[];
  /**
   * Resolves when an owner's own servers have had time to connect; soon, whatever they do. Absent where all servers are
   * shared.
   */
  ready?(owner: string, signal: AbortSignal): Promise<void>;
  /** Logs owners in at servers that want it. Absent where none does. */
  readonly logins?: ToolLogins;
  /** Ends its servers. What is under way fails. */
  close(): Promise<void>;
}

/** A login that was begun: a person opens the address, and the browser comes back to Parley. */
export interface BegunLogin {
  readonly authorizationUrl: string;
  /** Epoch milliseconds: it has to be finished by then. */
  readonly expiresAt: number;
}

/** What a browser brings back from a login. */
export interface LoginReturn {
  readonly state: string;
  readonly code?: string | undefined;
  /** The authorization server that it comes from, where that says so. */
  readonly iss?: string | undefined;
  /** The authorization server's code of a failure. */
  readonly error?: string | undefined;
}

/** Whoever finishes a login: the owner that has begun it, or the browser. */
export type FinishLogin = { readonly owner: string } | { readonly browser: string };

/** Logs owners in at servers of tools. Each login is one owner's. */
export interface ToolLogins {
  /** Begins a login. `browser` is a secret of the browser that does: without it, only the owner can finish. */
  start(
    owner: string,
    server: string,
    options: { readonly redirectUrl: string; readonly browser?: string },
  ): Promise<BegunLogin>;
  /** Finishes a login, once. Refused for everybody but the one that has begun it. */
  finish(
    returned: LoginReturn,
    by: FinishLogin,
  ): Promise<{ readonly owner: string; readonly server: string }>;
  /** Forgets an owner's login. Returns false where there was none. */
  disconnect(owner: string, server: string): Promise<boolean>;
}
