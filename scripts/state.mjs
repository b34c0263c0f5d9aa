// What is built so far, read from the tree itself, for as long as there is nothing to start.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./install.mjs";

/** The whole house, in the order in which it is built. */
const rooms = [
  ["packages/wire", "types of the wire: chunks, events, the HTTP and socket contract"],
  ["packages/http", "a resilient HTTP client and an SSE reader"],
  ["packages/core", "messages, history, the turn loop, the engine and the runtime"],
  ["packages/providers", "the models: OpenAI, Anthropic, the AI SDK, a demo model"],
  ["packages/store", "the log in Postgres, embedded (PGlite) or a server"],
  ["packages/server", "the HTTP and socket server"],
  ["packages/client", "a typed client and the conversation state for pages"],
  ["apps/web", "the page"],
  ["apps/cli", "the command line, which starts all of it"],
];

/** Prints which rooms exist and which do not. */
export function showState() {
  console.log(
    "\nParley is under construction. Nothing serves yet; these are its rooms, and what is in them so far.\n",
  );
  for (const [folder, says] of rooms) {
    const files = countSources(folder);
    const state = files === 0 ? "coming" : `${files} ${files === 1 ? "file" : "files"}`;
    console.log(`  ${folder.padEnd(20)}${state.padEnd(12)}${says}`);
  }
  console.log("\nTry `npm test` (all suites, on a real PostgreSQL and a real browser) and `npm run check`.");
}

function countSources(folder) {
  const src = join(root, folder, "src");
  if (!existsSync(src)) return 0;
  return readdirSync(src, { recursive: true }).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file),
  ).length;
}
