import type { StepMetrics, TurnMetrics } from "@parley/wire";

/** Fields that the turn's row holds already. */
export interface MetricsPlace {
  readonly turnId: string;
  readonly reason?: string | undefined;
}

/**
 * Packs a turn's metrics as lists whose positions represent the names of fields, without what the row or an earlier
 * entry has: a quarter of the bytes that names and repeated ids would take in every turn. `originalMetrics` returns
 * what went in, including fields that are not known here.
 */
export function packedMetrics(metrics: TurnMetrics, place: MetricsPlace): unknown {
  return packFields(metrics, turnFields(place));
}

/** Returns the metrics that `packedMetrics` was given. An object was stored before there was a packed form. */
export function originalMetrics(stored: unknown, place: MetricsPlace): TurnMetrics {
  return (Array.isArray(stored) ? unpackFields(stored, turnFields(place)) : stored) as TurnMetrics;
}

/** Packs the steps of a running turn, each as in `packedMetrics`. */
export function packedSteps(steps: readonly StepMetrics[], turnId: string): unknown[] {
  const fields = stepFields(turnId);
  return steps.map((step) => packFields(step, fields));
}

/** Returns the steps that `packedSteps` was given. Objects were stored before there was a packed form. */
export function originalSteps(stored: readonly unknown[], turnId: string): StepMetrics[] {
  const fields = stepFields(turnId);
  return stored.map((step) => (Array.isArray(step) ? unpackFields(step, fields) : step) as StepMetrics);
}

/**
 * Position at which `turnFields` keeps its fields, and what it does not know, for statements that read nothing else.
 */
export const usagePlace = 1;
export const contextSizePlace = 3;
export const stepsPlace = 4;
export const modelPlace = 6;
export const restPlace = 7;

type Fields = Record<string, unknown>;

/** One field of a packed list. If `pack` returns undefined, the field is kept under its name. */
interface Field {
  readonly name: string;
  readonly pack: (value: unknown) => unknown;
  readonly unpack: (stored: unknown) => unknown;
}

const asItIs = (name: string): Field => ({
  name,
  pack: (value) => value,
  unpack: (stored) => stored,
});

/** Packs a text as 0 if it is the expected one. */
const expected = (name: string, text: () => string | undefined): Field => ({
  name,
  pack: (value) => (typeof value === "string" ? (value === text() ? 0 : value) : undefined),
  unpack: (stored) => (stored === 0 ? text() : stored),
});

/** Packs a text as 0 if it is the same as the one before it. */
function repeated(name: string): Field {
  let before: string | undefined;
  const remember = (value: unknown) => {
    before = value as string;
    return value;
  };
  const { pack, unpack } = expected(name, () => before);
  return {
    name,
    pack: (value) => {
      const packed = pack(value);
      if (packed !== undefined) remember(value);
      return packed;
    },
    unpack: (stored) => remember(unpack(stored)),
  };
}

const within = (name: string, fields: readonly Field[]): Field => ({
  name,
  pack: (value) => (isFields(value) ? packFields(value, fields) : undefined),
  unpack: (stored) => unpackFields(stored as unknown[], fields),
});

const listOf = (name: string, fields: readonly Field[]): Field => ({
  name,
  pack: (value) =>
    Array.isArray(value) && value.every(isFields) ? value.map((each) => packFields(each, fields)) : undefined,
  unpack: (stored) => (stored as unknown[][]).map((each) => unpackFields(each, fields)),
});

/** Packs an id as a `+` with what follows the turn's id, or a `=` with the whole id. */
const idInTurn = (name: string, turnId: string): Field => ({
  name,
  pack: (value) => {
    if (typeof value !== "string") return undefined;
    return value.startsWith(turnId) ? `+${value.slice(turnId.length)}` : `=${value}`;
  },
  unpack: (stored) => {
    const mark = stored as string;
    return mark.startsWith("+") ? turnId + mark.slice(1) : mark.slice(1);
  },
});

const flag = (name: string): Field => ({
  name,
  pack: (value) => (typeof value === "boolean" ? Number(value) : undefined),
  unpack: (stored) => stored === 1,
});

const usageFields = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
].map(asItIs);

const toolFields = [asItIs("toolCallId"), asItIs("toolName"), flag("isError"), asItIs("durationMs")];

// Stored lists rely on the order and the number of these fields. One that becomes known later stays among the rest.
const stepFields = (turnId: string): readonly Field[] => [
  idInTurn("stepId", turnId),
  within("usage", usageFields),
  asItIs("ttftMs"),
  asItIs("decodeMs"),
  asItIs("genTotalMs"),
  repeated("model"),
  asItIs("toolMs"),
  listOf("tools", toolFields),
];

function turnFields({ turnId, reason }: MetricsPlace): readonly Field[] {
  return [
    expected("turnId", () => turnId),
    within("usage", usageFields),
    asItIs("durationMs"),
    asItIs("contextSize"),
    listOf("steps", stepFields(turnId)),
    expected("reason", () => reason),
    asItIs("model"),
  ];
}

/** Packs the fields in their order, null for one that is absent, and behind them an object with all others. */
function packFields(value: object, fields: readonly Field[]): unknown[] {
  const given = value as Fields;
  const packed: unknown[] = [];
  /** Number of fields in the list that are present, and its length up to the last of them. */
  let said = 0;
  let length = 0;
  for (const { name, pack } of fields) {
    const field = Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined;
    const stored = (field === undefined ? undefined : pack(field)) ?? null;
    packed.push(stored);
    if (stored === null) continue;
    said += 1;
    length = packed.length;
  }
  const names = Object.keys(given);
  if (names.length > said) {
    const unsaid = names.filter((name) => given[name] !== undefined && !isSaid(name, packed, fields));
    if (unsaid.length > 0) return [...packed, Object.fromEntries(unsaid.map((name) => [name, given[name]]))];
  }
  packed.length = length;
  return packed;
}

function isSaid(name: string, packed: readonly unknown[], fields: readonly Field[]): boolean {
  const place = fields.findIndex((field) => field.name === name);
  return place >= 0 && packed[place] !== null;
}

function unpackFields(stored: readonly unknown[], fields: readonly Field[]): Fields {
  const value: Fields = {};
  for (const [place, { name, unpack }] of fields.entries()) {
    const packed = stored[place] ?? null;
    if (packed !== null) value[name] = unpack(packed);
  }
  return { ...value, ...(stored[fields.length] as Fields | undefined) };
}

function isFields(value: unknown): value is Fields {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
