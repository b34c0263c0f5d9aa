import type { Clock } from "@parley/core";
import type { Logger } from "pino";
import type { AuthMode } from "./auth/gatekeeper.js";
import type { Face } from "./faces/face.js";
import type { ServerLimits, ServerPace } from "./limits/server-limits.js";
import type { Telemetry } from "./telemetry/telemetry.js";

/** How a server is set up. Everything has a default that is safe on one's own machine. */
export interface AppOptions {
  /**
   * `auto`: keys are asked for as soon as there is one, and until then only this machine may call. `keys`: always.
   * `open`: everyone who reaches it is `owner`, with all scopes. Default `auto`.
   */
  readonly auth?: AuthMode;
  /** Whose conversations are opened where no key is asked for. Default `local`. */
  readonly owner?: string;
  /** Origins of other pages that may call, such as `https://app.example.org`. */
  readonly origins?: readonly string[];
  /** Names that this server goes by, beside those of the loopback and bare addresses. */
  readonly hosts?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
  readonly pace?: Partial<ServerPace>;
  /** Other protocols that are spoken beside the native routes. Default: all of them. */
  readonly faces?: readonly Face[];
  /** The folder of a built page. */
  readonly page?: { readonly folder: string };
  /**
   * JSON answers above 1 KB are compressed for callers that can read it. Default false, for a host may compress by itself;
   * `serve` sets it.
   */
  readonly compress?: boolean;
  /** Messages that a page offers to begin a conversation with. */
  readonly starters?: readonly string[];
  /** Default: silent. */
  readonly logger?: Logger;
  /** Told in the contract. */
  readonly version?: string;
  /** Identifies this server in `/health`. Default: a random id. */
  readonly instance?: string;
  /** What `createTelemetryHooks` made, so that `/metrics` also tells of turns. `false`: no figures. */
  readonly telemetry?: Telemetry | boolean;
  readonly clock?: Clock;
}
