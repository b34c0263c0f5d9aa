import { ParleyError } from "@parley/core/errors";
import type { Tool } from "@parley/core/turn";

/** Creates a tool that returns the current time: in UTC, and in a time zone if one is requested. */
export function timeTool(options: { readonly now?: () => Date } = {}): Tool<{ timeZone?: string }> {
  const now = options.now ?? (() => new Date());
  return {
    name: "current_time",
    description:
      "Returns the current date and time, in UTC or in a given IANA time zone such as Europe/Berlin.",
    recovery: "retry",
    schema: {
      type: "object",
      properties: { timeZone: { type: "string", description: "An IANA time zone. Default UTC." } },
      additionalProperties: false,
    },
    execute({ timeZone = "UTC" }) {
      const at = now();
      return { iso: at.toISOString(), timeZone, local: localTime(at, timeZone) };
    },
  };
}

function localTime(at: Date, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full", timeStyle: "long" }).format(at);
  } catch {
    throw new ParleyError(
      "tool_failed",
      `"${timeZone}" is not an IANA time zone; use a name such as UTC or America/New_York`,
    );
  }
}
