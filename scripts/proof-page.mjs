// docs/proof.md: each command writes its own section, between markers, and leaves the others unchanged.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, platform, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./install.mjs";

const page = join(root, "docs/proof.md");
const opening = `# Proof

What Parley promises, shown. Every section below was written by the command that it names, on the day and the machine that
it names; nothing here is written by hand. Figures of time are of that machine and noisy; ratios within one run are what
counts. A line that begins with MISS is a target that was not met.
`;

/** The sections in reading order; one that is not listed comes last. */
const order = ["crash", "replay", "security", "soak", "bench"];

/** Replaces the section with that name; `lines` is Markdown. */
export function writeSection(id, title, command, lines) {
  const text = existsSync(page) ? readFileSync(page, "utf8") : opening;
  const sections = new Map(
    [...text.matchAll(/<!-- proof:(\S+) -->\n([\s\S]*?)<!-- \/proof:\1 -->/g)].map(([, name, body]) => [
      name,
      body,
    ]),
  );
  sections.set(
    id,
    `## ${title}\n\n\`${command}\` · ${today()} · ${machine()}\n\n${lines.join("\n").trim()}\n\n`,
  );
  const place = (name) => {
    const found = order.indexOf(name.split(":")[0]);
    return found < 0 ? order.length : found;
  };
  const sorted = [...sections].sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1));
  mkdirSync(dirname(page), { recursive: true });
  writeFileSync(
    page,
    `${opening}\n${sorted.map(([name, body]) => `<!-- proof:${name} -->\n${body}<!-- /proof:${name} -->`).join("\n\n")}\n`,
  );
  return page;
}

/** Replaces the figures between the markers of that name in a page that is otherwise written by hand. */
export function replaceSection(file, id, command, lines) {
  const path = join(root, file);
  const text = readFileSync(path, "utf8");
  const marked = new RegExp(`(<!-- proof:${id} -->\\n)[\\s\\S]*?(<!-- /proof:${id} -->)`);
  if (!marked.test(text)) throw new Error(`${file} has no markers for the figures of ${id}`);
  const body = `\`${command}\` · ${today()} · ${machine()}\n\n${lines.join("\n").trim()}\n\n`;
  writeFileSync(
    path,
    text.replace(marked, (_, opening, closing) => `${opening}${body}${closing}`),
  );
  return path;
}

/** Formats a Markdown table. */
export function markdownTable(columns, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)];
}

function today() {
  return new Date().toISOString().slice(0, 10);
}

function machine() {
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return `${cores[0]?.model.trim() ?? "unknown CPU"}, ${cores.length} cores, ${memory}, ${platform()} ${release().split("-")[0]}, Node ${process.versions.node}`;
}
