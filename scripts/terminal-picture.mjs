// Draws docs/images/terminal.png again: a real chat in a real terminal, with the demo model, drawn by Chromium.
//   node scripts/terminal-picture.mjs [file]
// It is one of the tests of the chat, with its terminal kept at the moment of steering; `npm test` sets up what it needs.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { root } from "./install.mjs";

const file = resolve(process.argv[2] ?? join(root, "docs/images/terminal.png"));
const args = [
  "node_modules/vitest/vitest.mjs",
  "run",
  "test/cli/chat.test.ts",
  "-t",
  "steers with Alt-Enter",
];
const vitest = spawn(process.execPath, args, {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PARLEY_TERMINAL_PICTURE: file },
});
vitest.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
