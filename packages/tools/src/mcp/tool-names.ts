import { createHash } from "node:crypto";

const longestName = 64;
const hashLength = 8;

/**
 * The name by which the model calls a tool: `server__tool`, in the characters and the length that every provider takes.
 * A name that has to be changed ends with a hash of the original, so that two that differ stay apart.
 */
export function toolName(server: string, tool: string): string {
  const whole = `${server}__${tool}`;
  const plain = whole.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === whole && plain.length <= longestName) return plain;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, hashLength);
  return `${plain.slice(0, longestName - hashLength - 1)}_${hash}`;
}

/** True where a name of a server can stand before the names of its tools. */
export function isServerName(name: string): boolean {
  return /^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$/.test(name) && name.length <= 32;
}

/** True where a name matches one of the patterns, in which `*` stands for any characters. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern.split("*").map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${source.join(".*")}$`, "s").test(name);
  });
}
