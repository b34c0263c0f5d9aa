import { boundedPattern } from "./bounded-pattern.js";
import { canonicalJson, equalJson, maxJsonDepth } from "./canonical-json.js";

/** One error in a value. */
export interface SchemaIssue {
  /** Location, as a JSON Pointer; empty for the whole value. */
  readonly path: string;
  /** Expected and found value, for the model to correct it. */
  readonly message: string;
}

/** Enough to correct a call; a value that is wrong in a thousand places is not explained a thousand times. */
const maxIssues = 16;
/** Maximum number of times a schema is applied for one value, which bounds hostile schemas and huge values alike. */
const maxApplications = 200_000;

/**
 * Checks a value against a JSON Schema: the keywords that tools' schemas use, of draft-07 and 2020-12. An empty list
 * means that no error was found.
 *
 * Unknown keywords and `format` are ignored, as the standard requires for those a validator does not know; so are a
 * `$ref` that points nowhere or outside, a pattern that is not valid, and a pattern whose test on a long text could
 * take too long. Never throws; the work is bounded, and a value or schema beyond that bound is reported as too
 * complex rather than accepted.
 */
export function validateJsonSchema(schema: unknown, value: unknown): SchemaIssue[] {
  const check: Check = { root: schema, applications: 0 };
  const issues: SchemaIssue[] = [];
  apply(check, schema, value, { path: "", depth: 0, active: [schema] }, issues);
  if (check.tooComplex !== undefined) return [{ path: "", message: check.tooComplex }];
  return issues;
}

interface Check {
  readonly root: unknown;
  applications: number;
  tooComplex?: string;
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** The schemas that references have reached at this value: reaching one again is a cycle. */
  readonly active: readonly unknown[];
}

type SchemaObject = { readonly [keyword: string]: unknown };

type Keyword = (
  check: Check,
  schema: SchemaObject,
  value: unknown,
  place: Place,
  issues: SchemaIssue[],
) => void;

function apply(check: Check, schema: unknown, value: unknown, place: Place, issues: SchemaIssue[]): void {
  if (check.tooComplex !== undefined || issues.length >= maxIssues) return;
  check.applications += 1;
  if (check.applications > maxApplications) check.tooComplex = "is too complex to be checked";
  else if (place.depth > maxJsonDepth) check.tooComplex = `nests deeper than ${maxJsonDepth} levels`;
  if (check.tooComplex !== undefined) return;
  if (schema === false) report(issues, place, "is not allowed");
  if (!isObject(schema)) return;
  // A value of the wrong type would fail every other keyword too, and saying so once is clearer.
  if (!checkType(schema, value, place, issues)) return;
  for (const keyword of keywords) keyword(check, schema, value, place, issues);
}

function report(issues: SchemaIssue[], place: Place, message: string): void {
  if (issues.length < maxIssues) issues.push({ path: place.path, message });
}

function checkType(schema: SchemaObject, value: unknown, place: Place, issues: SchemaIssue[]): boolean {
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  if (!Array.isArray(types) || types.length === 0) return true;
  if (types.some((type) => hasType(type, value))) return true;
  report(issues, place, `must be ${listOf(types.map(nameOfType))}, got ${describe(value)}`);
  return false;
}

function hasType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "string":
    case "boolean":
      return typeof value === type;
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      // An unknown type does not constrain the value.
      return true;
  }
}

const checkEnum: Keyword = (_check, schema, value, place, issues) => {
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => equalJson(choice, value))) {
    report(
      issues,
      place,
      `must be one of ${shortened(schema.enum.map(textOf).join(", "))}, got ${show(value)}`,
    );
  }
  if (Object.hasOwn(schema, "const") && !equalJson(schema.const, value)) {
    report(issues, place, `must be ${show(schema.const)}, got ${show(value)}`);
  }
};

const checkNumber: Keyword = (_check, schema, value, place, issues) => {
  if (typeof value !== "number") return;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && value < minimum) {
    report(issues, place, `must be at least ${minimum}, got ${value}`);
  }
  if (typeof maximum === "number" && value > maximum) {
    report(issues, place, `must be at most ${maximum}, got ${value}`);
  }
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) {
    report(issues, place, `must be greater than ${exclusiveMinimum}, got ${value}`);
  }
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) {
    report(issues, place, `must be less than ${exclusiveMaximum}, got ${value}`);
  }
  if (typeof multipleOf === "number" && multipleOf > 0 && !isMultiple(value, multipleOf)) {
    report(issues, place, `must be a multiple of ${multipleOf}, got ${value}`);
  }
};

/** Returns true for a multiple, tolerating the rounding of binary fractions: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, unit: number): boolean {
  const quotient = value / unit;
  if (!Number.isFinite(quotient)) return false;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.min(1, Math.abs(quotient));
}

const checkString: Keyword = (_check, schema, value, place, issues) => {
  if (typeof value !== "string") return;
  const { minLength, maxLength, pattern } = schema;
  if (typeof minLength === "number" || typeof maxLength === "number") {
    const length = codePoints(value);
    if (typeof minLength === "number" && length < minLength) {
      report(issues, place, `must have at least ${count(minLength, "character")}, has ${length}`);
    }
    if (typeof maxLength === "number" && length > maxLength) {
      report(issues, place, `must have at most ${count(maxLength, "character")}, has ${length}`);
    }
  }
  if (typeof pattern === "string" && boundedPattern(pattern)?.accepts(value) === false) {
    report(issues, place, `must match the pattern ${shortened(pattern)}, got ${show(value)}`);
  }
};

function codePoints(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

const checkArray: Keyword = (check, schema, value, place, issues) => {
  if (!Array.isArray(value)) return;
  const { minItems, maxItems, uniqueItems, items, prefixItems, additionalItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) {
    report(issues, place, `must have at least ${count(minItems, "item")}, has ${value.length}`);
  }
  if (typeof maxItems === "number" && value.length > maxItems) {
    report(issues, place, `must have at most ${count(maxItems, "item")}, has ${value.length}`);
  }
  if (uniqueItems === true) checkUnique(check, value, place, issues);
  // The older form of a tuple is an array in `items`, with `additionalItems` for the rest.
  const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? additionalItems : items;
  for (const [index, item] of value.entries()) {
    if (issues.length >= maxIssues || check.tooComplex !== undefined) return;
    const schemaOfItem: unknown = index < tuple.length ? tuple[index] : rest;
    if (schemaOfItem !== undefined) apply(check, schemaOfItem, item, inside(place, String(index)), issues);
  }
};

function checkUnique(check: Check, items: readonly unknown[], place: Place, issues: SchemaIssue[]): void {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const key = canonicalJson(item, place.depth);
    if (key === undefined) {
      check.tooComplex = `nests deeper than ${maxJsonDepth} levels`;
      return;
    }
    const earlier = seen.get(key);
    if (earlier !== undefined) {
      report(issues, inside(place, String(index)), `must not repeat item ${earlier}`);
      return;
    }
    seen.set(key, index);
  }
}

const checkObject: Keyword = (check, schema, value, place, issues) => {
  if (!isObject(value)) return;
  const { required, additionalProperties } = schema;
  const properties = isObject(schema.properties) ? schema.properties : {};
  if (Array.isArray(required)) {
    for (const name of required) {
      if (typeof name !== "string" || Object.hasOwn(value, name)) continue;
      report(issues, inside(place, name), "is required");
    }
  }
  const patterns = patternsOf(schema.patternProperties);
  for (const name of Object.keys(value)) {
    if (issues.length >= maxIssues || check.tooComplex !== undefined) return;
    const schemas: unknown[] = Object.hasOwn(properties, name) ? [properties[name]] : [];
    for (const { pattern, schema: matching } of patterns) if (pattern.matches(name)) schemas.push(matching);
    if (schemas.length === 0 && additionalProperties === false) {
      report(issues, inside(place, name), unknownProperty(Object.keys(properties)));
      continue;
    }
    if (schemas.length === 0) schemas.push(additionalProperties);
    for (const each of schemas) apply(check, each, value[name], inside(place, name), issues);
  }
};

function patternsOf(value: unknown) {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([source, schema]) => {
    const pattern = boundedPattern(source);
    return pattern === undefined ? [] : [{ pattern, schema }];
  });
}

function unknownProperty(known: readonly string[]): string {
  if (known.length === 0) return "is not a known property";
  return `is not a known property (known: ${shortened(known.join(", "))})`;
}

const checkReference: Keyword = (check, schema, value, place, issues) => {
  if (typeof schema.$ref !== "string") return;
  const target = resolve(check.root, schema.$ref);
  // A schema that refers to itself without descending into the value adds no constraint on the value.
  if (target === undefined || place.active.includes(target)) return;
  const reached = { ...place, depth: place.depth + 1, active: [...place.active, target] };
  apply(check, target, value, reached, issues);
};

/** Returns the schema at a local reference such as `#/$defs/city`. */
function resolve(root: unknown, reference: string): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let found = root;
  for (const segment of reference.slice(2).split("/")) {
    if (reference.length <= 2) break;
    const name = unescaped(segment);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as SchemaObject)[name];
  }
  return found;
}

function unescaped(segment: string): string {
  let name = segment;
  try {
    name = decodeURIComponent(segment);
  } catch {
    // Not percent-encoded after all.
  }
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}

const checkCombinations: Keyword = (check, schema, value, place, issues) => {
  const here = { ...place, depth: place.depth + 1 };
  if (Array.isArray(schema.allOf)) for (const each of schema.allOf) apply(check, each, value, here, issues);
  if (Array.isArray(schema.anyOf) && schema.anyOf.length > 0) {
    const failures = failuresOf(check, schema.anyOf, value, here);
    if (failures.every((failure) => failure.length > 0)) {
      report(issues, place, `must match at least one alternative: ${alternatives(failures, place)}`);
    }
  }
  if (Array.isArray(schema.oneOf) && schema.oneOf.length > 0) {
    const failures = failuresOf(check, schema.oneOf, value, here);
    const matching = failures.flatMap((failure, index) => (failure.length === 0 ? [index + 1] : []));
    if (matching.length === 0) {
      report(issues, place, `must match exactly one alternative: ${alternatives(failures, place)}`);
    } else if (matching.length > 1) {
      report(issues, place, `must match exactly one alternative, matches numbers ${matching.join(" and ")}`);
    }
  }
  if (schema.not !== undefined && failuresOf(check, [schema.not], value, here)[0]?.length === 0) {
    report(issues, place, "matches what is not allowed here");
  }
};

function failuresOf(
  check: Check,
  schemas: readonly unknown[],
  value: unknown,
  place: Place,
): SchemaIssue[][] {
  return schemas.map((schema) => {
    const failures: SchemaIssue[] = [];
    apply(check, schema, value, place, failures);
    return failures;
  });
}

function alternatives(failures: readonly SchemaIssue[][], place: Place): string {
  const shown = failures.slice(0, 4).map((failure, index) => {
    const [first] = failure;
    if (first === undefined) return "";
    const path = first.path.slice(place.path.length);
    return `(${index + 1}) ${path === "" ? "" : `${path}: `}${first.message}`;
  });
  return `${shown.join("; ")}${failures.length > shown.length ? "; ..." : ""}`;
}

const keywords: readonly Keyword[] = [
  checkReference,
  checkEnum,
  checkNumber,
  checkString,
  checkArray,
  checkObject,
  checkCombinations,
];

function inside(place: Place, name: string): Place {
  const segment = name.replaceAll("~", "~0").replaceAll("/", "~1");
  return { path: `${place.path}/${shortened(segment)}`, depth: place.depth + 1, active: [] };
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOfType(type: unknown): string {
  switch (type) {
    case "integer":
    case "array":
    case "object":
      return `an ${type}`;
    case "null":
      return "null";
    default:
      return `a ${String(type)}`;
  }
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && !Number.isInteger(value)) return String(value);
  return typeof value;
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

/** Formats a value for a message: whole if short, otherwise cut. */
function show(value: unknown): string {
  return shortened(textOf(value));
}

function textOf(value: unknown): string {
  return canonicalJson(value, 0) ?? describe(value);
}

function shortened(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}
