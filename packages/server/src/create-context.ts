import { randomUUID } from "node:crypto";
import { ParleyError, systemClock } from "@parley/core";
import type { Runtime } from "@parley/core/runtime";
import type { AppContext } from "./app-env.js";
import type { AppOptions } from "./app-options.js";
import type { Authenticate } from "./auth/caller.js";
import { FailedLogins } from "./auth/failed-logins.js";
import { Gatekeeper } from "./auth/gatekeeper.js";
import { hostName } from "./auth/host-and-origin.js";
import { KeyRing } from "./auth/key-ring.js";
import { Connections } from "./http/connections.js";
import { RateLimiter } from "./limits/rate-limiter.js";
import { defaultServerLimits, defaultServerPace } from "./limits/server-limits.js";
import { IntervalTimer } from "./stream/interval-timer.js";
import { createSilentLogger } from "./telemetry/logging.js";
import { createTelemetryHooks, type Telemetry } from "./telemetry/telemetry.js";
import { packageVersion } from "./version.js";

/**
 * Creates the context that the parts of one app share. With `authenticate`, the host identifies callers, and keys are
 * not read.
 */
export function createContext(
  runtime: Runtime,
  options: AppOptions & { readonly authenticate?: Authenticate },
  own: Pick<AppContext, "draining" | "contract">,
): AppContext {
  const clock = options.clock ?? systemClock;
  const limits = { ...defaultServerLimits, ...options.limits };
  const pace = { ...defaultServerPace, ...options.pace };
  const keys = new KeyRing(runtime.keys, clock, pace);
  const telemetry = telemetryOf(options.telemetry);
  telemetry?.watchRuntime(runtime);
  const { authenticate } = options;
  return {
    runtime,
    limits,
    pace,
    clock,
    logger: options.logger ?? createSilentLogger(),
    places: {
      hosts: new Set((options.hosts ?? []).map((host) => hostName(host) ?? host)),
      origins: new Set((options.origins ?? []).map(originOf)),
      // Only a server that trusts its own machine has to check for a name that points to it.
      anyHost: authenticate !== undefined,
    },
    gatekeeper: new Gatekeeper({ mode: options.auth ?? "auto", owner: options.owner ?? "local", ring: keys }),
    ...(authenticate === undefined ? {} : { authenticate }),
    keys,
    rate: new RateLimiter({ perSecond: limits.requestsPerSecond, burst: limits.requestBurst, clock }),
    failures: new FailedLogins(limits, pace, clock),
    connections: new Connections(limits.connectionsPerKey),
    heartbeat: new IntervalTimer(clock, pace.heartbeatMs),
    ping: new IntervalTimer(clock, pace.pingMs),
    telemetry,
    version: options.version ?? packageVersion,
    compresses: options.compress ?? false,
    starters: options.starters ?? [],
    instance: options.instance ?? randomUUID(),
    ...own,
    checkDraining() {
      if (own.draining()) throw new ParleyError("draining", undefined, { retryAfterMs: 1_000 });
    },
  };
}

/** Checks repeatedly that the callers of open connections are still admitted. Returns a function that stops it. */
export function recheckCallers(app: AppContext): () => void {
  // As often as a key is looked up again.
  const rechecks = new IntervalTimer(app.clock, app.pace.keyMs);
  return rechecks.add(() => {
    app.keys.forget();
    app.connections
      .recheck((callers) => app.gatekeeper.findUnwelcome(callers))
      .catch(() => {
        // The store is unavailable; the next check tries again.
      });
  });
}

function telemetryOf(given: AppOptions["telemetry"]): Telemetry | undefined {
  if (given === false) return undefined;
  if (given === undefined || given === true) return createTelemetryHooks({ processFigures: false });
  return given;
}

function originOf(text: string): string {
  try {
    const { origin } = new URL(text);
    if (origin !== "null") return origin;
  } catch {
    // Reported below.
  }
  throw new ParleyError(
    "invalid_request",
    `origins: "${text}" is not an origin, such as https://app.example.org`,
  );
}
