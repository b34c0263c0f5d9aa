/** The oldest Node that Parley runs on, as `engines` of the package says. */
export const oldestNode = "20.19";

/** Returns what to say to someone whose Node is too old, else undefined. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split(".").map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `parley: Node ${version} is too old. Parley needs Node ${oldestNode} or newer: https://nodejs.org`;
}
