// Installed versions of the peers.
import { readFileSync } from "node:fs";

/** Returns the installed version of a package; undefined if it is not installed. */
export function packageVersion(name) {
  try {
    const manifest = new URL(`./node_modules/${name}/package.json`, import.meta.url);
    return JSON.parse(readFileSync(manifest, "utf8")).version;
  } catch {
    return undefined;
  }
}

/** Returns a contestant's name with the installed version of its package. */
export function withVersion(name, packageName) {
  const version = packageVersion(packageName);
  return version === undefined ? name : `${name} (${packageName} ${version})`;
}

/** Names of the stores that several scenarios compare with. */
export const storeNames = {
  mastra: `@mastra/pg ${packageVersion("@mastra/pg")}`,
  langGraph: `LangGraph's PostgreSQL saver ${packageVersion("@langchain/langgraph-checkpoint-postgres")} (langgraph ${packageVersion("@langchain/langgraph")})`,
};
