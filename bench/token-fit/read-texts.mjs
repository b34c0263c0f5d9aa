// The committed texts of one split ("tuning" or "held-out"), with their exact counts.
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../texts/", import.meta.url);

/** Returns `{ kind, name, text, exact }` for each text, in the order of their paths. */
export function readTexts(split, countExactly) {
  const texts = [];
  for (const kind of readdirSync(new URL(`${split}/`, root)).sort()) {
    for (const name of readdirSync(new URL(`${split}/${kind}/`, root)).sort()) {
      const text = readFileSync(new URL(`${split}/${kind}/${name}`, root), "utf8");
      texts.push({ kind, name, text, exact: countExactly(text) });
    }
  }
  return texts;
}
