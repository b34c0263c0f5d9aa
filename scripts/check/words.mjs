// Comments, messages and documents use the standard word for a thing (docs/glossary.md, "Words to avoid").
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const about = "comments and documents use plain words, and doc comments begin with a verb or a noun";

/** Words that need decoding, with what to write instead. */
const avoided = new Map([
  ["told", "published, notified, reported, or given"],
  ["heard", "received"],
  ["unheard", "not received"],
  ["anew", "again"],
  ["whoever", "the caller, client, user or node that"],
  ["nobody", 'no client, user or node, or what is missing ("No approver is available")'],
  ["for good", "permanently"],
]);

/** Files whose words are quoted, measured or generated. */
const excluded = [
  /package-lock\.json$/,
  /^docs\/(proof|replay-matrix|glossary)\.md$/,
  /^packages\/core\/src\/messages\/tokens\/text-tokens\.test-support\.ts$/,
  /^scripts\/check\/words\.mjs$/,
  /^test\/slow\/check\.test\.ts$/,
];

const list = [...avoided.keys()].join("|");
const capitalized = list.replaceAll(/(?<=^|\|)[a-z]/g, (letter) => letter.toUpperCase());
const word = new RegExp(String.raw`(?<![\w-])(${list})(?![\w-])`, "i");
/** One of the words at the beginning of a name in camel case, or further behind in it. */
const inName = new RegExp(
  `(?<![A-Za-z])(${list}|${capitalized})(?=[A-Z])|(?<=[a-z0-9])(${capitalized})(?![a-z])`,
);
/** The user account of that name, and names in test data. */
const quotedName = /(["'`])nobody\1/g;
const questionFirst = /^\s*(?:\/\*\*|\*) (What|Whether|Who|How|Whose|Why)\b/;

export async function run({ root }) {
  const files = filesIn(root, "")
    .filter((file) => /\.(tsx?|mjs|md|css|html|ya?ml)$/.test(file))
    .filter((file) => !excluded.some((pattern) => pattern.test(file)));
  return {
    problems: files.flatMap((file) => problemsOf(root, file)),
    note: `${files.length} files, ${avoided.size} words`,
    advice: "docs/glossary.md lists the words to avoid, and what to write.",
  };
}

/** Folders of installed, built and stored files. */
const notSources = new Set(["node_modules", "dist", ".git", ".cache", ".parley", "migrations", "coverage"]);

function filesIn(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return notSources.has(entry.name) ? [] : filesIn(root, path);
    return entry.isFile() ? [path] : [];
  });
}

function findWord(line, isCode) {
  const name = isCode ? inName.exec(line) : null;
  return word.exec(line)?.[1] ?? name?.[1] ?? name?.[2];
}

function problemsOf(root, file) {
  const isCode = /\.(tsx?|mjs)$/.test(file);
  const problems = [];
  let inComment = false;
  for (const [index, line] of readFileSync(join(root, file), "utf8").split("\n").entries()) {
    const at = `${file}:${index + 1}`;
    const found = findWord(line.replaceAll(quotedName, ""), isCode);
    if (found !== undefined) {
      problems.push(`${at} says "${found}": write ${avoided.get(found.toLowerCase())}`);
    }
    if (!isCode) continue;
    // Only the first line of a doc comment begins it.
    const begins = /^\s*\/\*\*(\s|$)/.test(line);
    const opening = begins ? line : inComment ? line : undefined;
    const question = opening === undefined ? undefined : questionFirst.exec(opening)?.[1];
    if (question !== undefined) {
      problems.push(`${at} begins with "${question}": begin with a verb (functions) or a noun (types)`);
    }
    inComment = begins && /\/\*\*\s*$/.test(line);
  }
  return problems;
}
