import type { Approval } from "@parley/core/turn";

/** The command of a server that runs as a child process. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * Its environment, in addition to the few variables that every program needs. Nothing else of this process
   * reaches it.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The address of a server over HTTP. */
export interface HttpServer {
  readonly url: string;
  /** Sent with every request to this address, and to no other. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Each owner logs in there, and its tools are those of that login. Default: the headers are sufficient. */
  readonly auth?: "oauth";
  /** Parley's client at the authorization server. Default: it registers itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The authorization server that `clientSecret` is for. Default: one at the origin of `url`. */
  readonly issuer?: string;
  /** Scopes that a login requests. Default: those that the server requires. */
  readonly scopes?: readonly string[];
}

/** A server of tools with the Model Context Protocol. */
export type McpServerConfig = (StdioServer | HttpServer) & {
  /** Tools to offer, by name; `*` matches any characters. Default: all of them. */
  readonly tools?: {
    readonly allow?: readonly string[] | undefined;
    readonly deny?: readonly string[] | undefined;
  };
  /** Approval policy of its calls. Default: by the annotations of each tool. */
  readonly approval?: Approval;
  /** Milliseconds for one call without progress. Default 60,000. */
  readonly timeoutMs?: number;
  /** True to trust its annotations where they relax the policy. Default false. */
  readonly trust?: boolean;
};
