import type { Approval } from "@parley/core/turn";

/** The command of a server that is a process of its own. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Its environment, beside the few variables that every program needs. Nothing else of this process reaches it. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The address of a server over HTTP. */
export interface HttpServer {
  readonly url: string;
  /** Sent with every request to this address, and to no other. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Each owner logs in there, and its tools are those of that login. Default: the headers are all it needs. */
  readonly auth?: "oauth";
  /** Parley, as the authorization server knows it. Default: it registers itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The authorization server that `clientSecret` is for. Default: one at the origin of `url`. */
  readonly issuer?: string;
  /** What a login asks for. Default: what the server says it needs. */
  readonly scopes?: readonly string[];
}

/** A server of tools that speak the Model Context Protocol. */
export type McpServerConfig = (StdioServer | HttpServer) & {
  /** Which of its tools are offered, by name; `*` stands for any characters. Default: all of them. */
  readonly tools?: {
    readonly allow?: readonly string[] | undefined;
    readonly deny?: readonly string[] | undefined;
  };
  /** When its calls need approval. Default: by the annotations of each tool. */
  readonly approval?: Approval;
  /** Milliseconds that one call may take without progress. Default 60,000. */
  readonly timeoutMs?: number;
  /** Its annotations are believed where they make calls easier. Default false. */
  readonly trust?: boolean;
};
