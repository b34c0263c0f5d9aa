export { createApp, type ParleyApp } from "./app.js";
export type { AppEnv } from "./app-env.js";
export type { AppOptions } from "./app-options.js";
export { createKey, hashSecret } from "./auth/api-key.js";
export type { AuthMode } from "./auth/gatekeeper.js";
export {
  defaultServerLimits,
  defaultServerPace,
  type ServerLimits,
  type ServerPace,
} from "./limits/server-limits.js";
export { toMarkdown } from "./markdown.js";
export { type RunningServer, type ServeOptions, serve } from "./serve.js";
export { createSocketServer } from "./socket/socket-server.js";
export { createEventLog, type EventLog } from "./telemetry/event-log.js";
export { createLogger } from "./telemetry/logging.js";
export { createTelemetryHooks, type Telemetry, type TelemetryOptions } from "./telemetry/telemetry.js";
