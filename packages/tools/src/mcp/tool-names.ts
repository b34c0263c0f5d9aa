import { createHash } from "node:crypto";

const longestName = 64;
const hashLength = 8;

/**
 * Returns the name by which the model calls a tool: `server__tool`, in the characters and the length that
 * every provider accepts. A name that must be changed ends with a hash of the original, so that different
 * names stay different.
 */
export function toolName(server: string, tool: string): string {
  const whole = `${server}__${tool}`;
  const plain = whole.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain === whole && plain.length <= longestName) return plain;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, hashLength);
  return `${plain.slice(0, longestName - hashLength - 1)}_${hash}`;
}

/** Returns true if a server's name can prefix the names of its tools. */
export function isServerName(name: string): boolean {
  return /^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$/.test(name) && name.length <= 32;
}

/** Returns true if a name matches one of the patterns, in which `*` matches any characters. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const source = pattern.split("*").map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${source.join(".*")}$`, "s").test(name);
  });
}
