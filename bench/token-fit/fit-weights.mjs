// Fits the weights of the text estimate to texts whose exact counts are known, piece by piece.
import {
  contextLevelOf,
  initialContext,
  nextContext,
} from "../../packages/core/dist/messages/tokens/text-tokens.js";
import { weightTables } from "../../packages/core/dist/messages/tokens/token-weight-tables.js";
import { cutText } from "./cut-text.mjs";
import { describePiece } from "./describe-piece.mjs";
import { ridge } from "./ridge.mjs";
import { toTokenWeights } from "./write-weights.mjs";

/** Regularization of a weight towards 0, by its table; chosen by cross-validation on the tuning texts. */
const penalties = {
  latinPairs: 1.2,
  leadMark: 1.2,
  alphabetPairs: 1.2,
  cjkCharacter: 0.1,
  cjkFirst: 0.1,
  cjkPair: 0.6,
  markCharacter: 2.4,
  symbol: 0.1,
  emoji: 0.05,
};
const usualPenalty = 0.3;
const rounds = 8;
const contextRounds = 4;

/**
 * Creates a function that returns the pieces of a text with their exact counts and features, each distinct
 * piece described once.
 */
export function createDescriber(countExactly, classes) {
  const tables = weightTables(toTokenWeights(new Map(), classes));
  const known = new Map();
  return (text) =>
    cutText(text).map((piece) => {
      let described = known.get(piece);
      if (described === undefined) {
        described = { exact: countExactly(piece), parts: describePiece(piece, tables) };
        known.set(piece, described);
      }
      return described;
    });
}

/** Fits all weights to described texts (lists of pieces). Returns a map from feature to weight. */
export function fitWeights(texts) {
  let weights = new Map();
  for (let round = 0; round < rounds; round++) weights = fitPieces(texts, weights, round > 0);
  for (let round = 0; round < contextRounds; round++) fitContext(texts, weights);
  return weights;
}

/** Returns the model's estimate for a described text. */
export function estimate(pieces, weights) {
  let tokens = 0;
  walk(pieces, weights, ({ part, cost, context }) => {
    tokens += part.fixed ?? Math.max(1, cost + context);
  });
  return tokens;
}

/**
 * Runs one round of least squares for everything but the context. A piece that the last round estimated below
 * one token costs one whatever its weights, so it does not influence them.
 */
function fitPieces(texts, weights, leaveOutCheap) {
  const groups = new Map();
  for (const { exact, parts } of texts.flat()) {
    const open = parts.filter((part) => part.fixed === undefined);
    const names = new Set(open.map((part) => part.group));
    if (names.size !== 1) continue;
    if (leaveOutCheap && open.length === 1 && costOf(open[0], weights) < 1) continue;
    const [name] = names;
    if (!groups.has(name)) groups.set(name, []);
    const known = parts.reduce((total, part) => total + (part.fixed ?? part.base), 0);
    groups.get(name).push({
      features: open.flatMap((part) => part.features),
      target: exact - known,
      weight: open[0].weight ?? 1,
    });
  }
  const next = new Map();
  for (const rows of groups.values()) {
    for (const [feature, weight] of ridge(rows, penaltyOf)) next.set(feature, weight);
  }
  // Weights that no piece influences any more stay unchanged.
  for (const [feature, weight] of weights) if (!next.has(feature)) next.set(feature, weight);
  return next;
}

/** Fits what the context adds, with everything else unchanged. */
function fitContext(texts, weights) {
  const rows = [];
  for (const pieces of texts) {
    walk(pieces, weights, ({ piece, cost, context, contextFeatures = [] }) => {
      if (contextFeatures.length === 0 || piece.parts.length !== 1 || cost + context < 1) return;
      rows.push({ features: contextFeatures, target: piece.exact - cost, weight: 1 });
    });
  }
  for (const [feature, weight] of ridge(rows, penaltyOf)) weights.set(feature, weight);
}

/** Walks through a text as the estimate does, with the context of each word. */
function walk(pieces, weights, visit) {
  let context = initialContext;
  for (const piece of pieces) {
    for (const part of piece.parts) {
      const cost = part.fixed ?? costOf(part, weights);
      if (part.letters === undefined) {
        visit({ piece, part, cost, context: 0 });
        continue;
      }
      const contextFeatures = part.contextFeatures(contextLevelOf(context));
      visit({ piece, part, cost, context: sum(contextFeatures, weights), contextFeatures });
      context = nextContext(context, (cost - part.base) * 100, part.letters);
    }
  }
}

function costOf(part, weights) {
  return part.base + sum(part.features, weights);
}

function sum(features, weights) {
  return features.reduce((total, feature) => total + (weights.get(feature) ?? 0), 0);
}

function penaltyOf(feature) {
  return penalties[feature.slice(0, feature.indexOf(" ")).replace(/\d+$/, "")] ?? usualPenalty;
}
