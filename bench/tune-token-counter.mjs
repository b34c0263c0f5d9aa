// Fits the weights of the default token counter and writes packages/core/src/messages/tokens/token-weights.ts.
//
//   node bench/tune-token-counter.mjs            fit on texts/tuning, print the fit, change nothing
//   node bench/tune-token-counter.mjs --check    the same by cross-validation: what to expect of unseen texts
//   node bench/tune-token-counter.mjs --write    fit, and write the weights
//
// It reads texts/tuning only. The texts in texts/held-out are for scenarios/token-estimate.mjs, which judges.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { decode, encode } from "gpt-tokenizer/encoding/o200k_base";
import { createTextCounter } from "../packages/core/dist/messages/tokens/text-tokens.js";
import { formatTable } from "./format-table.mjs";
import { characterClasses } from "./token-fit/character-classes.mjs";
import { createDescriber, estimate, fitWeights } from "./token-fit/fit-weights.mjs";
import { readTexts } from "./token-fit/read-texts.mjs";
import { toTokenWeights, weightsSource } from "./token-fit/write-weights.mjs";

const folds = 8;
const vocabularySize = 199_998;
const target = new URL("../packages/core/src/messages/tokens/token-weights.ts", import.meta.url);

const { values: args } = parseArgs({ options: { check: { type: "boolean" }, write: { type: "boolean" } } });

const countExactly = (text) => encode(text).length;
const vocabulary = Array.from({ length: vocabularySize }, (_, token) => decode([token]));
const classes = characterClasses(vocabulary);
const describe = createDescriber(countExactly, classes);
const texts = readTexts("tuning", countExactly).map((each) => ({ ...each, pieces: describe(each.text) }));

if (args.check) crossValidate();
else fitAll();

function crossValidate() {
  const errors = [];
  for (let fold = 0; fold < folds; fold++) {
    const inFold = (_, index) => index % folds === fold;
    const weights = fitWeights(texts.filter((each, i) => !inFold(each, i)).map(({ pieces }) => pieces));
    for (const each of texts.filter(inFold)) {
      errors.push({ ...each, error: estimate(each.pieces, weights) / each.exact - 1 });
    }
  }
  // Each of the other scripts has one text: without it, nothing is known of its script.
  print(errors.filter(({ kind }) => kind !== "other"));
}

function fitAll() {
  const fitted = fitWeights(texts.map(({ pieces }) => pieces));
  const weights = toTokenWeights(fitted, classes);
  const count = createTextCounter(weights);
  print(texts.map((each) => ({ ...each, error: count(each.text) / each.exact - 1 })));
  const gap = texts.map((each) => Math.abs(count(each.text) / estimate(each.pieces, fitted) - 1));
  console.log(
    `The fast pass differs from the fitted model by ${percent(mean(gap))} on average, ${percent(Math.max(...gap))} at most.`,
  );
  if (!args.write) return;
  writeFileSync(target, weightsSource(weights));
  console.log(`Wrote ${fileURLToPath(target)}. Format it (npm run format) and build.`);
}

function print(errors) {
  const kinds = [...new Set(errors.map(({ kind }) => kind))];
  const rows = kinds.map((kind) => {
    const own = errors.filter((each) => each.kind === kind).map(({ error }) => error);
    return [
      kind,
      String(own.length),
      percent(mean(own.map(Math.abs))),
      percent(mean(own)),
      percent(Math.max(...own.map(Math.abs))),
    ];
  });
  console.log(formatTable(["kind", "texts", "mean error", "bias", "largest"], rows));
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}
