import { safeLine } from "../../terminal/safe-text.js";
import type { Style } from "../../terminal/style.js";

const levels: Readonly<Record<number, "info" | "warn" | "error">> = {
  30: "info",
  40: "warn",
  50: "error",
  60: "error",
};
const hidden = new Set(["level", "time", "msg", "requestId", "frames", "owner"]);

/** A line of the log, which is JSON, as a person reads it. */
export function prettyLogLine(json: string, style: Style): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return safeLine(json);
  }
  const level = levels[Number(entry.level)] ?? "info";
  const time = style.dim(new Date(String(entry.time)).toTimeString().slice(0, 8));
  const { method, route, status, durationMs } = entry;
  if (typeof route === "string" && typeof status === "number") {
    const path = route.includes(" ") ? route : `${String(method)} ${route}`;
    const code =
      status >= 500
        ? style.red(String(status))
        : status >= 400
          ? style.yellow(String(status))
          : style.green(String(status));
    const failure = typeof entry.code === "string" ? ` ${style.yellow(safeLine(entry.code))}` : "";
    const where =
      typeof entry.conversationId === "string" ? ` ${style.dim(safeLine(entry.conversationId))}` : "";
    return `${time} ${code} ${path} ${style.dim(`${String(durationMs)} ms`)}${failure}${where}`;
  }
  const paint = level === "error" ? style.red : level === "warn" ? style.yellow : (text: string) => text;
  const rest = Object.entries(entry)
    .filter(([name]) => !hidden.has(name))
    .map(([name, value]) => safeLine(`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`));
  return `${time} ${paint(safeLine(String(entry.msg ?? "")))} ${style.dim(rest.join(" "))}`.trimEnd();
}
