import type { ParleyClient } from "@parley/client";
import type { Connected, connectToServer } from "./connect.js";
import type { Io } from "./io.js";

/** Global options, before or after every verb. */
export interface GlobalOptions {
  readonly url?: string;
  readonly config?: string;
  readonly store?: string;
  readonly owner?: string;
  readonly quiet?: boolean;
  readonly color?: boolean;
}

/** The environment of a verb. */
export interface VerbContext {
  readonly io: Io;
  readonly globals: GlobalOptions;
  /** Aborted when the user interrupts: long waits end. */
  readonly signal: AbortSignal;
  /**
   * Replaces what an interrupt does, until the returned function is called. A second interrupt ends the process
   * whatever the handler is at.
   */
  onInterrupt(handler: () => void): () => void;
  /** Reaches the conversations. Closed by itself when the verb is done. */
  connect(options?: { readonly socket?: boolean; readonly direct?: boolean }): Promise<Connected>;
  /** The same when only the client is of interest. */
  client(): Promise<ParleyClient>;
  /** Reaches the running server without opening a store; where none runs, there is the configuration alone. */
  connectToServer(): ReturnType<typeof connectToServer>;
}

/** The exit code of a verb; undefined is success. */
export type VerbResult = Promise<number | undefined> | Promise<void>;
