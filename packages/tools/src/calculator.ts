import { ParleyError } from "@parley/core/errors";
import type { Tool } from "@parley/core/turn";

const longestExpression = 1_000;
const deepestNesting = 100;

/**
 * Creates a tool that lets the model calculate instead of guessing. Supports numbers, + - * / % ^, brackets,
 * and common functions.
 */
export function calculatorTool(): Tool<{ expression: string }> {
  return {
    name: "calculator",
    description:
      "Calculates an arithmetic expression, such as (3 + 4) * 2 ^ 10 / sqrt(16). Operators: + - * / % ^. Functions: sqrt abs round floor ceil min max log ln exp sin cos tan. Constants: pi e.",
    recovery: "retry",
    schema: {
      type: "object",
      properties: { expression: { type: "string", minLength: 1, maxLength: longestExpression } },
      required: ["expression"],
      additionalProperties: false,
    },
    execute: ({ expression }) => ({ expression, value: calculate(expression) }),
  };
}

const functions: Readonly<Record<string, (...values: number[]) => number>> = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  min: Math.min,
  max: Math.max,
  log: Math.log10,
  ln: Math.log,
  exp: Math.exp,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
};
const constants: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };

/**
 * Returns the value of an arithmetic expression. Parses it by recursive descent and never evaluates code; an
 * error names the position. `^` binds tightest and to the right, then unary minus, then `* / %`, then `+ -`.
 */
export function calculate(expression: string): number {
  if (expression.length > longestExpression) {
    throw new ParleyError("tool_failed", `The expression is longer than ${longestExpression} characters`);
  }
  const tokens = tokenize(expression);
  let place = 0;
  let depth = 0;
  const peek = () => tokens[place]?.text;
  const fail = (expected: string): never => {
    const token = tokens[place];
    const found = token === undefined ? "the end" : `"${token.text}" at character ${token.at + 1}`;
    throw new ParleyError("tool_failed", `Expected ${expected}, found ${found}`);
  };
  const take = (text: string) => {
    if (peek() !== text) fail(`"${text}"`);
    place += 1;
  };

  const sum = (): number => {
    depth += 1;
    if (depth > deepestNesting)
      throw new ParleyError("tool_failed", `The expression nests deeper than ${deepestNesting}`);
    let value = product();
    for (let operator = peek(); operator === "+" || operator === "-"; operator = peek()) {
      place += 1;
      const right = product();
      value = operator === "+" ? value + right : value - right;
    }
    depth -= 1;
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let operator = peek(); operator === "*" || operator === "/" || operator === "%"; operator = peek()) {
      place += 1;
      const right = signed();
      if (operator !== "*" && right === 0) throw new ParleyError("tool_failed", "Division by zero");
      value = operator === "*" ? value * right : operator === "/" ? value / right : value % right;
    }
    return value;
  };
  const signed = (): number => {
    let sign = 1;
    for (let operator = peek(); operator === "-" || operator === "+"; operator = peek()) {
      place += 1;
      if (operator === "-") sign = -sign;
    }
    return sign * power();
  };
  const power = (): number => {
    const base = operand();
    if (peek() !== "^") return base;
    place += 1;
    return base ** signed();
  };
  const operand = (): number => {
    const token = tokens[place];
    if (token === undefined) return fail("a number");
    if (token.text === "(") {
      place += 1;
      const value = sum();
      take(")");
      return value;
    }
    if (token.value !== undefined) {
      place += 1;
      return token.value;
    }
    const name = token.text.toLowerCase();
    if (Object.hasOwn(constants, name)) {
      place += 1;
      return constants[name] ?? Number.NaN;
    }
    const apply = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (apply === undefined) return fail("a number, a bracket or a known function");
    place += 1;
    take("(");
    const values = [sum()];
    while (peek() === ",") {
      place += 1;
      values.push(sum());
    }
    take(")");
    return apply(...values);
  };

  const value = sum();
  if (place < tokens.length) fail("the end");
  if (!Number.isFinite(value)) throw new ParleyError("tool_failed", "The result is not a finite number");
  return value;
}

interface Token {
  readonly text: string;
  readonly at: number;
  readonly value?: number;
}

function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z]+)|([-+*/%^(),]))/giy;
  let at = 0;
  while (at < expression.length) {
    if (expression.slice(at).trim() === "") break;
    pattern.lastIndex = at;
    const match = pattern.exec(expression);
    if (match === null) {
      const rest = expression.slice(at).trimStart();
      throw new ParleyError(
        "tool_failed",
        `"${Array.from(rest)[0]}" at character ${expression.length - rest.length + 1} is not understood`,
      );
    }
    const [whole, number, word, sign] = match;
    const text = number ?? word ?? sign ?? "";
    const start = at + whole.length - text.length;
    tokens.push({ text, at: start, ...(number === undefined ? {} : { value: Number(number) }) });
    at = pattern.lastIndex;
  }
  return tokens;
}
