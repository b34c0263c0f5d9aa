import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, ParleyError } from "@parley/core";
import type { Runtime } from "@parley/core/runtime";
import type { JsonObject } from "@parley/wire";
import type { Logger } from "pino";
import type { Authenticate, Caller } from "./auth/caller.js";
import type { FailedLogins } from "./auth/failed-logins.js";
import type { Gatekeeper } from "./auth/gatekeeper.js";
import type { KnownPlaces } from "./auth/host-and-origin.js";
import type { KeyRing } from "./auth/key-ring.js";
import type { DescribeFailure } from "./faces/face.js";
import type { Connections } from "./http/connections.js";
import type { RateLimiter } from "./limits/rate-limiter.js";
import type { ServerLimits, ServerPace } from "./limits/server-limits.js";
import type { IntervalTimer } from "./stream/interval-timer.js";
import type { Telemetry } from "./telemetry/telemetry.js";

/** State and settings that the parts of one app share. */
export interface AppContext {
  readonly runtime: Runtime;
  readonly limits: ServerLimits;
  readonly pace: ServerPace;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly places: KnownPlaces;
  readonly gatekeeper: Gatekeeper;
  /** Identifies callers in place of keys, if the host does so. */
  readonly authenticate?: Authenticate;
  readonly keys: KeyRing;
  readonly rate: RateLimiter;
  readonly failures: FailedLogins;
  readonly connections: Connections;
  /** Keeps event streams alive. */
  readonly heartbeat: IntervalTimer;
  /** Detects sockets whose client is gone. */
  readonly ping: IntervalTimer;
  readonly telemetry: Telemetry | undefined;
  readonly version: string;
  /** True if JSON answers are compressed here, and not by a host. */
  readonly compresses: boolean;
  /** Messages that a page offers to begin a conversation with. */
  readonly starters: readonly string[];
  /** Identifies this server among all that ever listened at its address. */
  readonly instance: string;
  /** The published contract. */
  contract(): JsonObject;
  /** Returns true if the app or its node accepts no more work. */
  draining(): boolean;
  /** Refuses work while the app or its node is shutting down. */
  checkDraining(): void;
}

/** Values that a request carries through the app. `incoming` and `outgoing` are absent in a call within the process. */
export interface AppEnv {
  readonly Bindings: {
    readonly incoming?: IncomingMessage;
    readonly outgoing?: ServerResponse;
    /** Present while a socket is being opened. */
    readonly wss?: object;
    /** Set when the socket will be opened, for code that otherwise has to answer. */
    readonly handshake?: { isAccepted: boolean };
  };
  readonly Variables: {
    requestId: string;
    caller: Caller;
    conversationId: string;
    /** The route's name, for logs and figures. */
    route: string;
    /** Resolves when a streamed answer has ended. */
    streaming: Promise<unknown>;
    failure: ParleyError;
    /** Makes the answer to a failure, below a face whose protocol has a shape of its own. */
    describeFailure: DescribeFailure;
  };
}
