/** Limits for servers of tools. */
export interface McpLimits {
  /** Milliseconds for connecting, including the first list of tools. */
  readonly connectMs: number;
  /** Milliseconds for one call without progress, if the server has no setting of its own, and in total. */
  readonly callMs: number;
  readonly longestCallMs: number;
  /** Bytes of one response over HTTP, and of a line over stdio: more closes the connection. */
  readonly answerBytes: number;
  /** Characters of a result that are passed to the model. */
  readonly resultCharacters: number;
  /** Tools of one server; further ones are omitted. */
  readonly tools: number;
  /**
   * Characters of a tool's description, and bytes of its schema: a longer description is cut, a tool with a
   * larger schema omitted.
   */
  readonly descriptionCharacters: number;
  readonly schemaBytes: number;
  /** Initial and maximum wait before a lost server is connected again; it doubles. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** Minimum interval between reads of a changed list. */
  readonly listMs: number;
  /** Milliseconds that a turn waits for the servers that its owner has logged in at. */
  readonly readyMs: number;
  /**
   * Milliseconds after its last turn when an owner's connections are closed, and the maximum number of
   * connected owners.
   */
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
