/** Bounds of what servers may do. */
export interface McpLimits {
  /** Milliseconds that a connection may take, with the first list of tools. */
  readonly connectMs: number;
  /** Milliseconds that one call may take without progress, where the server's own setting is absent, and in all. */
  readonly callMs: number;
  readonly longestCallMs: number;
  /** Bytes of one answer over HTTP, and of a line over stdio: more closes the connection. */
  readonly answerBytes: number;
  /** Characters of a result that the model is given. */
  readonly resultCharacters: number;
  /** Tools of one server; further ones are left out. */
  readonly tools: number;
  /** Characters of a tool's description, and bytes of its schema: a longer one is cut, a larger one left out. */
  readonly descriptionCharacters: number;
  readonly schemaBytes: number;
  /** Pause before a lost server is connected again, at first and at most; it doubles. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** A changed list is read at most so often. */
  readonly listMs: number;
  /** Milliseconds that a turn waits for the servers that its owner has logged in at. */
  readonly readyMs: number;
  /** Milliseconds after its last turn when an owner's connections are ended, and the most owners that have some. */
  readonly idleMs: number;
  readonly owners: number;
}

export const defaultMcpLimits: McpLimits = {
  connectMs: 10_000,
  callMs: 60_000,
  longestCallMs: 600_000,
  answerBytes: 8 * 2 ** 20,
  resultCharacters: 200_000,
  tools: 128,
  descriptionCharacters: 4_000,
  schemaBytes: 64 * 1024,
  retryMs: 1_000,
  longestRetryMs: 60_000,
  listMs: 1_000,
  readyMs: 3_000,
  idleMs: 15 * 60_000,
  owners: 1_000,
};
