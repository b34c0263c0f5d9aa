import type { Clock } from "@parley/core";
import type { Logger } from "pino";
import type { AuthMode } from "./auth/gatekeeper.js";
import type { Face } from "./faces/face.js";
import type { ServerLimits, ServerPace } from "./limits/server-limits.js";
import type { Telemetry } from "./telemetry/telemetry.js";

/** Settings of a server. Every default is safe on a local machine. */
export interface AppOptions {
  /**
   * `auto`: keys are required as soon as there is one, and until then only this machine may call. `keys`: always.
   * `open`: every caller that reaches it is `owner`, with all scopes. Default `auto`.
   */
  readonly auth?: AuthMode;
  /** Owner whose conversations are opened if no key is required. Default `local`. */
  readonly owner?: string;
  /** Origins of other pages that may call, such as `https://app.example.org`. */
  readonly origins?: readonly string[];
  /** Host names of this server, beside those of the loopback and bare addresses. */
  readonly hosts?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
  readonly pace?: Partial<ServerPace>;
  /** Other protocols that are served beside the native routes. Default: all of them. */
  readonly faces?: readonly Face[];
  /** The folder of a built page. */
  readonly page?: { readonly folder: string };
  /**
   * Compresses JSON answers above 1 KB for callers that can read it. Default false, since a host may compress by
   * itself; `serve` sets it.
   */
  readonly compress?: boolean;
  /** Messages that a page offers to begin a conversation with. */
  readonly starters?: readonly string[];
  /** Default: silent. */
  readonly logger?: Logger;
  /** Published in the contract. */
  readonly version?: string;
  /** Identifies this server in `/health`. Default: a random id. */
  readonly instance?: string;
  /** Result of `createTelemetryHooks`, so that `/metrics` also reports turns. `false`: no figures. */
  readonly telemetry?: Telemetry | boolean;
  readonly clock?: Clock;
}
