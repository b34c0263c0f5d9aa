// Measures how much a browser loads from the built page in `dist`, gzipped: before anything can be typed (the shell),
// until the first answer is drawn, and for markdown alone. Fails above the limits.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** Limits of the page, in bytes after gzip. */
export const limits = { shell: 150_000, firstAnswer: 250_000, markdown: 40_000 };

/** Chunks that a plain answer needs in addition to the shell: the conversation view and the markdown renderer. */
const answerParts = ["conversation-view-", "markdown-"];

/** Returns the sizes of the built page in bytes after gzip, with the files behind them. */
export function measurePage(folder = fileURLToPath(new URL("../dist/", import.meta.url))) {
  const read = (name) => readFileSync(`${folder}/${name}`);
  const html = read("index.html").toString();
  // The shell does not wait for files that are fetched with the lowest priority.
  const links = html.match(/<(?:script|link)\b[^>]*>/g).filter((tag) => !tag.includes('fetchpriority="low"'));
  const linked = links.flatMap((tag) => /(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/.exec(tag)?.[1] ?? []);
  const shell = withImports(linked, read);
  const grammars = new Set(grammarFiles(folder, read));
  const parts = readdirSync(`${folder}/assets`).filter(
    (name) => answerParts.some((part) => name.startsWith(part)) && !grammars.has(name),
  );
  const firstAnswer = withImports([...shell, ...parts], read);
  const markdown = parts.filter((name) => name.startsWith("markdown-"));
  const packed = (bytes) => gzipSync(bytes, { level: 6 }).length;
  const size = (names) => names.reduce((sum, name) => sum + packed(read(`assets/${name}`)), 0);
  return {
    shell: { bytes: size(shell) + packed(html), files: shell },
    firstAnswer: { bytes: size(firstAnswer) + packed(html), files: firstAnswer },
    markdown: { bytes: size(markdown), files: markdown },
  };
}

/** Returns these files and all files that they import before they run. */
function withImports(names, read) {
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    if (!name.endsWith(".js")) return;
    const code = read(`assets/${name}`).toString();
    for (const [, imported] of code.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) add(imported);
  };
  for (const name of names) add(name);
  return [...found];
}

/**
 * Returns the files of the highlighter's grammars. Their names may start with the name of a part ("markdown"), but they
 * load only with code in that language.
 */
function grammarFiles(folder, read) {
  return readdirSync(`${folder}/assets`).filter(
    (name) => name.endsWith(".js") && read(`assets/${name}`).includes("scopeName"),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const measured = measurePage();
  for (const [name, limit] of Object.entries(limits)) {
    const { bytes, files } = measured[name];
    const within = bytes <= limit;
    console.log(
      `${name}: ${bytes} of ${limit} bytes after gzip in ${files.length} files${within ? "" : ": TOO MUCH"}`,
    );
    if (!within) process.exitCode = 1;
  }
}
