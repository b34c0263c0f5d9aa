import type { ToolServerInfo } from "@parley/wire";
import type { Tool } from "./tool.js";

/**
 * The experimental capability by which Parley, as a server of tools, identifies the store of its conversations: `{ id
 * }`. A Parley that would be offered tools of its own conversations can refuse them.
 */
export const storeCapability = "parley/store";

/** A source of tools, whose list may change while a node runs. */
export interface ToolSource {
  /**
   * Returns the tools that it currently offers an owner. The same list as long as nothing changes; owners that are
   * offered the same may get the same one.
   */
  tools(owner: string): readonly Tool<never>[];
  /** Returns the state of its servers, for an owner; without one, of those that all owners share. */
  servers(owner?: string): readonly ToolServerInfo[];
  /**
   * Resolves when an owner's own servers have had time to connect; soon, whatever they do. Absent if all servers are
   * shared.
   */
  ready?(owner: string, signal: AbortSignal): Promise<void>;
  /** Logs owners in at servers that require it. Absent if none does. */
  readonly logins?: ToolLogins;
  /** Ends its servers. Calls in progress fail. */
  close(): Promise<void>;
}

/** A login that was started: a person opens the address, and the browser returns to Parley. */
export interface BegunLogin {
  readonly authorizationUrl: string;
  /** Epoch milliseconds: it has to be finished by then. */
  readonly expiresAt: number;
}

/** Parameters that a browser returns with from a login. */
export interface LoginReturn {
  readonly state: string;
  readonly code?: string | undefined;
  /** The authorization server that it comes from, if it identifies itself. */
  readonly iss?: string | undefined;
  /** The authorization server's code of a failure. */
  readonly error?: string | undefined;
}

/** The caller that finishes a login: the owner that has started it, or the browser. */
export type FinishLogin = { readonly owner: string } | { readonly browser: string };

/** Logs owners in at servers of tools. Each login belongs to one owner. */
export interface ToolLogins {
  /** Starts a login. `browser` is a secret of the browser that starts it: without it, only the owner can finish. */
  start(
    owner: string,
    server: string,
    options: { readonly redirectUrl: string; readonly browser?: string },
  ): Promise<BegunLogin>;
  /** Finishes a login, once. Refused for every caller but the one that has started it. */
  finish(
    returned: LoginReturn,
    by: FinishLogin,
  ): Promise<{ readonly owner: string; readonly server: string }>;
  /** Removes an owner's login. Returns false if there was none. */
  disconnect(owner: string, server: string): Promise<boolean>;
}
