import { toParleyError } from "@parley/core/errors";
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";

const secretNames = ["authorization", "cookie", "apiKey", "key", "secret", "password", "token"];

/**
 * Creates a logger that writes JSON lines. Parley logs neither secrets nor content of messages; fields that usually
 * hold a secret are redacted anyway, for what an application adds.
 */
export function createLogger(
  options: { readonly level?: LoggerOptions["level"] } = {},
  destination?: DestinationStream,
): Logger {
  const settings: LoggerOptions = {
    level: options.level ?? "info",
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[hidden]" },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}

/** Creates a logger that writes nothing. */
export function createSilentLogger(): Logger {
  return pino({ level: "silent" });
}

/**
 * Returns the loggable part of a failure. The text of a foreign error may quote what a user wrote, so only the
 * engine's own errors are quoted; the stack always is.
 */
export function describeFailure(thrown: unknown): Record<string, unknown> {
  const error = toParleyError(thrown);
  const cause = error.cause ?? (error === thrown ? undefined : thrown);
  const isEngines =
    cause instanceof TypeError || cause instanceof ReferenceError || cause instanceof RangeError;
  return {
    code: error.code,
    ...(cause instanceof Error
      ? {
          cause: cause.name,
          ...(isEngines ? { message: cause.message } : {}),
          frames: framesOf(cause),
        }
      : {}),
  };
}

function framesOf({ stack }: Error): string[] {
  return (stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
