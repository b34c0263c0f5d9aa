import type { z } from "zod";
import { suggest } from "./suggest.js";

/** One thing that is wrong with a configuration. */
export interface ConfigIssue {
  /** Names and indexes from the outside in; empty for the whole. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

type Issue = z.core.$ZodIssue;

/**
 * Describes the issues of a schema in words for the person who wrote the file. The issues come from a parse with
 * `reportInput`; values are never repeated, for they may be secrets.
 */
export function describeIssues(issues: readonly Issue[], known: KnownKeys): ConfigIssue[] {
  return issues.flatMap((issue) => describe(issue, [], known));
}

/** The names that are allowed at a place, to guess what was meant. */
export type KnownKeys = (path: readonly PropertyKey[]) => readonly string[];

function describe(issue: Issue, outer: readonly PropertyKey[], known: KnownKeys): ConfigIssue[] {
  const path = [...outer, ...issue.path];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownName(key, known(path)) }));
    case "invalid_union":
      return describeUnion(issue, path, known);
    case "invalid_type":
      return [
        {
          path,
          message: `expected ${article(issue.expected)}${isMissing(issue) ? ", but it is missing" : ""}`,
        },
      ];
    case "invalid_value":
      return [
        { path, message: `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}` },
      ];
    case "too_small":
      return [{ path, message: tooSmall(issue) }];
    case "too_big":
      return [{ path, message: `is too large; the most is ${issue.maximum}` }];
    case "invalid_format":
      if (issue.format === "url") return [{ path, message: "expected a URL such as https://example.com/v1" }];
      return [{ path, message: issue.message }];
    case "invalid_key":
      return issue.issues.flatMap((inner) => [{ path, message: inner.message }]);
    default:
      return [{ path, message: issue.message }];
  }
}

function describeUnion(
  issue: Extract<Issue, { code: "invalid_union" }>,
  path: readonly PropertyKey[],
  known: KnownKeys,
): ConfigIssue[] {
  if (issue.discriminator !== undefined) {
    const at = path.at(-1) === issue.discriminator ? path : [...path, issue.discriminator];
    return [
      {
        path: at,
        message: `expected ${known(at)
          .map((kind) => JSON.stringify(kind))
          .join(", ")}`,
      },
    ];
  }
  // The branch that the value was meant for is the one that does not refuse its very type.
  const meant = issue.errors.find(
    (branch) => !branch.some((one) => one.path.length === 0 && isTypeError(one)),
  );
  if (meant !== undefined) return meant.flatMap((inner) => describe(inner, path, known));
  const expected = issue.errors.flatMap((branch) =>
    branch.flatMap((one) =>
      one.code === "invalid_type"
        ? [article(one.expected)]
        : one.code === "invalid_value"
          ? one.values.map((value) => JSON.stringify(value))
          : [],
    ),
  );
  return [{ path, message: `expected ${[...new Set(expected)].join(" or ")}` }];
}

const isTypeError = (issue: Issue) => issue.code === "invalid_type" || issue.code === "invalid_value";

/** The schema is asked with `reportInput`, so an issue without input is about a value that is not there. */
function isMissing(issue: Issue): boolean {
  return issue.input === undefined;
}

function tooSmall(issue: Extract<Issue, { code: "too_small" }>): string {
  const { minimum, origin, inclusive } = issue;
  if (origin === "string" || origin === "array") return "must not be empty";
  return `is too small; ${inclusive ? "the least is" : "it must be more than"} ${minimum}`;
}

function unknownName(key: string, names: readonly string[]): string {
  const meant = suggest(key, names);
  if (meant !== undefined) return `is not a setting; did you mean "${meant}"?`;
  return names.length === 0 ? "is not a setting" : `is not a setting; there are ${names.join(", ")}`;
}

function article(type: string): string {
  const words: Readonly<Record<string, string>> = {
    string: "a text",
    int: "a whole number",
    number: "a number",
    boolean: "true or false",
    object: "an object",
    record: "an object",
    array: "a list",
  };
  return words[type] ?? type;
}
