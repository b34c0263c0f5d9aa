/** A regular expression of a schema, tested only if that cannot take long. */
export interface BoundedPattern {
  /** Returns false only if the text was tested and does not match. */
  accepts(text: string): boolean;
  /** Returns true only if the text was tested and matches. */
  matches(text: string): boolean;
}

/** Steps of a backtracking search that one test may cost in the worst case. */
const maxWork = 4e7;

/** Maximum length of a text for a pattern whose search can double with each character. */
const maxExponentialLength = 18;

/** Compiled patterns are kept, because a tool's schema is applied repeatedly. */
const compiled = new Map<string, BoundedPattern | undefined>();
const maxCompiled = 500;

/**
 * Compiles a schema's `pattern`. Undefined if it is not a valid expression: such a keyword is ignored.
 *
 * The engine of the language backtracks, so a harmless-looking pattern and a long text can block a process for
 * minutes. The worst case is estimated from the pattern (the number of unbounded repetitions, and if one is inside
 * another), and a text too long for it is not tested: the check of a tool's arguments helps the model to correct
 * itself and must never cost more than the tool.
 */
export function boundedPattern(source: string): BoundedPattern | undefined {
  if (compiled.has(source)) return compiled.get(source);
  const pattern = compile(source);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(source, pattern);
  return pattern;
}

function compile(source: string): BoundedPattern | undefined {
  const expression = expressionOf(source);
  if (expression === undefined) return undefined;
  const maxLength = testableLength(source);
  return {
    accepts: (text) => text.length > maxLength || expression.test(text),
    matches: (text) => text.length <= maxLength && expression.test(text),
  };
}

function expressionOf(source: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Schemas in the wild escape characters that the unicode mode refuses, so both modes are tried.
    }
  }
  return undefined;
}

/** Returns the length of the longest text whose worst case stays within `maxWork`. */
export function testableLength(source: string): number {
  const shape = shapeOf(source);
  if (shape.nested || shape.backreference) return maxExponentialLength;
  const work = maxWork / 2 ** shape.optional;
  const exponent = shape.repeated + (source.startsWith("^") ? 0 : 1);
  const length = exponent === 0 ? work : work ** (1 / exponent);
  return Math.max(maxExponentialLength, Math.floor(length));
}

interface PatternShape {
  /**
   * Number of repetitions of variable length with no bound, or a high one: each adds a power of the text's length.
   */
  readonly repeated: number;
  /** Number of optional elements: each doubles the ways to match. */
  readonly optional: number;
  /** True if a repetition encloses another one or a choice. */
  readonly nested: boolean;
  readonly backreference: boolean;
}

const token = /\\.|\[\^?(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<\w+>|:))?|[)|*+?]|\{\d+(?:,\d*)?\}/gsu;

/** Repetitions up to this number are harmless even around a choice. */
const harmlessRepeats = 3;
const manyRepeats = 10;

function shapeOf(source: string): PatternShape {
  let repeated = 0;
  let optional = 0;
  let nested = false;
  let backreference = false;
  // For each open group: true if it holds a repetition of variable length or a choice.
  const variable: boolean[] = [];
  let outer = false;
  let closed: { end: number; variable: boolean } | undefined;
  const mark = () => {
    if (variable.length === 0) outer = true;
    else variable[variable.length - 1] = true;
  };
  for (const match of source.matchAll(token)) {
    const text = match[0];
    if (text.startsWith("\\")) {
      if (/^\\[1-9k]$/u.test(text)) backreference = true;
    } else if (text.startsWith("(")) {
      variable.push(false);
    } else if (text === ")") {
      const inner = variable.pop() ?? outer;
      closed = { end: match.index + 1, variable: inner };
      if (inner) mark();
    } else if (text === "|") {
      mark();
    } else if (!text.startsWith("[")) {
      const { low, high } = repeatsOf(text);
      if (high > harmlessRepeats && closed?.end === match.index && closed.variable) nested = true;
      if (low === high) continue;
      if (high >= manyRepeats) repeated += 1;
      else optional += 1;
      mark();
    }
  }
  return { repeated, optional, nested, backreference };
}

function repeatsOf(quantifier: string): { low: number; high: number } {
  if (quantifier === "?") return { low: 0, high: 1 };
  if (quantifier === "*") return { low: 0, high: Number.POSITIVE_INFINITY };
  if (quantifier === "+") return { low: 1, high: Number.POSITIVE_INFINITY };
  const [low = "0", high] = quantifier.slice(1, -1).split(",");
  if (high === undefined) return { low: Number(low), high: Number(low) };
  return { low: Number(low), high: high === "" ? Number.POSITIVE_INFINITY : Number(high) };
}
