// `node scripts/moving-picture.mjs`: records the moving picture of README with the real server and the real command line:
// a server that is killed in the middle of a tool, and an approval. Writes docs/images/crash-and-approval.svg.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { root } from "./install.mjs";
import { setup } from "./setup.mjs";

const main = join(root, "apps", "cli", "dist", "main.js");
const picture = join(root, "docs", "images", "crash-and-approval.svg");
/** Silence that says nothing is cut to this; the pace of what happens stays. */
const longestGapMs = 1_400;
const [width, lineHeight, top, columns] = [1_080, 19, 44, 122];

await setup({ quiet: true });
const folder = mkdtempSync(join(tmpdir(), "parley-picture-"));
const env = { ...process.env, PARLEY_STORE: join(folder, "store"), NO_COLOR: "1", PARLEY_COMMAND: "parley" };
const port = 4_941;
const lines = [];
const started = performance.now();

try {
  let server = await serve();
  // Making the store is not part of the story.
  lines.length = 0;
  typed("server", "parley serve");
  note("server", `listening on http://127.0.0.1:${port}`);
  await pause(800);
  const answer = run(["run", "use the slow tool"]);
  await answer.sees("demo_slow_task {");
  await pause(2_500);
  server.kill("SIGKILL");
  typed("server", "kill -9 %1        # in the middle of the tool");
  await answer.sees("The connection broke");
  await pause(1_200);
  typed("server", "parley serve");
  server = await serve();
  await answer.ended;
  await run(["send", "@", "Ask me before you water the plants"]).ended;
  await pause(1_200);
  await run(["pending"]).ended;
  await run(["approve", await pendingId()]).ended;
  await pause(1_500);
  await run(["show", "@", "-n", "3", "--no-reasoning"]).ended;
  server.kill("SIGTERM");
  await once(server, "exit");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
writeFileSync(picture, draw(paced(lines)));
console.log(`${picture}: ${lines.length} lines.`);

/** Starts the server. Of its log, the lines that belong to the story are shown. */
async function serve() {
  const child = spawn(process.execPath, [main, "serve", "--port", String(port)], { env, stdio: "pipe" });
  let isListening = false;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { msg, url, outcome } = JSON.parse(line);
    if (msg === "listening") note("server", `listening on ${url}`);
    if (msg.startsWith("took over")) note("server", `${msg} (${outcome})`);
    isListening ||= msg === "listening";
  });
  while (!isListening) await pause(50);
  return child;
}

function run(args) {
  typed("client", `parley ${args.map((word) => (/[ ]/.test(word) ? JSON.stringify(word) : word)).join(" ")}`);
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let seen = "";
  for (const stream of [child.stdout, child.stderr]) {
    let open;
    stream.setEncoding("utf8").on("data", (text) => {
      seen += text;
      // A line stands from its first piece on, and grows.
      for (const piece of stripVTControlCharacters(text).split(/(?<=\n)/)) {
        if (open === undefined && piece.trim() !== "") open = note("client", "");
        if (open !== undefined) open.text += piece.replace("\n", "");
        if (piece.endsWith("\n")) open = undefined;
      }
    });
  }
  return {
    ended: once(child, "close"),
    async sees(words) {
      while (!seen.includes(words)) await pause(50);
    },
  };
}

async function pendingId() {
  const answer = await fetch(`http://127.0.0.1:${port}/pending`);
  return (await answer.json()).pending[0].requestId.slice(0, 8);
}

function typed(pane, text) {
  note(pane, `$ ${text}`);
}

function note(pane, text) {
  const line = { pane, text, at: performance.now() - started };
  lines.push(line);
  return line;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The same lines with long silence shortened, from 0 on. */
function paced(recorded) {
  let shown = 600;
  let before = recorded[0]?.at ?? 0;
  return recorded.map(({ pane, text, at }) => {
    shown += Math.min(longestGapMs, at - before);
    before = at;
    return { pane, text, at: shown };
  });
}

function draw(shown) {
  const rows = shown.flatMap((line) =>
    wrap(line.text, line.pane === "server" ? columns - 10 : columns).map((text) => ({ ...line, text })),
  );
  const total = (shown.at(-1)?.at ?? 0) + 6_000;
  const height = top + rows.length * lineHeight + 20;
  const body = rows.map(({ pane, text, at }, index) => {
    const share = ((at / total) * 100).toFixed(2);
    const y = top + 14 + index * lineHeight;
    const kind = pane === "server" ? "server" : text.startsWith("$ ") ? "typed" : "plain";
    return {
      rule: `@keyframes l${index}{0%,${share}%{opacity:0}${(Number(share) + 0.01).toFixed(2)}%,100%{opacity:1}}#l${index}{animation:l${index} ${(total / 1_000).toFixed(1)}s infinite}`,
      text: `<text xml:space="preserve" id="l${index}" class="${kind}" x="18" y="${y}">${pane === "server" ? "<tspan>server </tspan>" : ""}${escapeText(text)}</text>`,
    };
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A server is killed in the middle of a tool and the turn goes on; another turn waits for an approval">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6dbe5;white-space:pre}.server{fill:#f2b872}.server tspan{fill:#8a93a6}.typed{fill:#8fd0ff}
@media (prefers-reduced-motion:no-preference){${body.map(({ rule }) => rule).join("\n")}}</style>
<rect width="${width}" height="${height}" rx="10" fill="#171a21"/><circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
${body.map(({ text }) => text).join("\n")}
</svg>
`;
}

function wrap(text, most) {
  const pieces = [];
  for (let rest = text; rest !== ""; rest = rest.slice(most)) pieces.push(rest.slice(0, most));
  return pieces;
}

function escapeText(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
