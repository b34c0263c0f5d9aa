import type { Socket } from "node:net";
import type pg from "pg";

/** Error of a connection on which no byte moved for as long as its answer may take. */
export class SilentConnectionError extends Error {
  override readonly name = "SilentConnectionError";

  constructor(ms: number) {
    super(`No byte of an answer came for ${ms} ms`);
  }
}

/** The driver's client with a limit on silence, and an `end` that waits for the other side only for a limited time. */
export interface BoundedClient extends pg.Client {
  /** Process id that the startup named: a pooler's own, if one is in between. */
  readonly processID: number | null;
  /** Time at which the server last answered on this connection, by `performance.now()`. */
  answeredAt: number;
  /** Time since which the connection was silent, once it was given up for that. */
  readonly silentSince: number | undefined;
  /** Destroys the connection if no byte moves on it for this long, in either direction. 0: no limit. */
  limitSilence(ms: number): void;
  /** Destroys the connection at once. Statements under way fail with `reason`. */
  destroy(reason?: Error): void;
}

type ClientClass = new (config?: string | pg.ClientConfig) => pg.Client;

/** The part of the driver's client that its types leave out. */
interface Wired {
  readonly connection: {
    /** Replaced by another one when TLS begins. */
    readonly stream: Socket;
    once(event: "end", listener: () => void): unknown;
  };
}

/**
 * Extends a client class of the driver. Node's own socket timer detects silence: it sees bytes in both directions, so a
 * large result or a large statement on a slow line does not count as silence while it moves.
 */
export function boundClient(
  Base: ClientClass,
  endTimeoutMs: number,
): new (
  config?: string | pg.ClientConfig,
) => BoundedClient {
  return class extends Base {
    declare readonly processID: number | null;
    answeredAt = performance.now();
    silentSince: number | undefined;
    #watched: Socket | undefined;
    #limitedAt = 0;

    get #wire(): Wired["connection"] {
      return (this as unknown as Wired).connection;
    }

    limitSilence(ms: number): void {
      const { stream } = this.#wire;
      if (stream !== this.#watched) {
        this.#watched = stream;
        stream.on("timeout", () => this.#giveUp(stream));
      }
      if (ms > 0) this.#limitedAt = performance.now();
      stream.setTimeout(ms);
    }

    /**
     * Gives the connection up, after reading what arrived while this process was busy: bytes that wait to be read are
     * no silence.
     */
    #giveUp(stream: Socket): void {
      const { bytesRead, timeout: limitMs = 0 } = stream;
      setImmediate(() => {
        if (limitMs === 0 || stream.timeout !== limitMs || stream.bytesRead !== bytesRead) return;
        // Timers count in whole milliseconds, and from a time before the call: other connections may have answered since.
        this.silentSince = Math.max(this.#limitedAt, performance.now() - limitMs);
        this.destroy(new SilentConnectionError(limitMs));
      });
    }

    destroy(reason?: Error): void {
      this.#wire.stream.destroy(reason);
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      const { stream } = this.#wire;
      if (!stream.destroyed) {
        // The other side closes the connection after the terminate message; one that hangs never does.
        const timer = setTimeout(() => this.destroy(), endTimeoutMs);
        timer.unref();
        this.#wire.once("end", () => clearTimeout(timer));
      }
      return callback === undefined ? super.end() : super.end(callback);
    }
  };
}
