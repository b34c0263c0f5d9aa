import { omitUndefined } from "@parley/fold";
/** The exit code of the program. Documented in `parley --help`. */
export const exitCodes = { ok: 0, failure: 1, usage: 2, invalid: 3, interrupted: 130 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure whose message was written for the person at the terminal: it is shown as it is, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  /** Advice on how to resolve it. */
  readonly advice: string | undefined;

  constructor(message: string, options: { advice?: string; exitCode?: ExitCode; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? exitCodes.failure;
    this.advice = options.advice;
  }
}

/** Creates the error for a command with invalid arguments or options. */
export function usageError(message: string, advice?: string): CliError {
  return new CliError(message, { exitCode: exitCodes.usage, ...omitUndefined({ advice }) });
}
