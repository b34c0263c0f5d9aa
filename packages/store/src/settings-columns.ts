import type { ConversationSettings } from "@parley/core/ports";
import type { ReasoningEffort } from "@parley/wire";
import type { StatementValue } from "./database.js";
import { boundedJson } from "./message-row.js";
import type { conversation } from "./schema/index.js";
import type { StoreContext } from "./store-context.js";
import { originalJson, originalText, storedText } from "./stored-text.js";

type Columns = (typeof conversation)["_"]["columns"];
type ColumnName = Columns[keyof Columns]["_"]["name"];

/** A setting of a conversation. Its title is none: it is never absent, and a fork may be given another one. */
type Setting = Exclude<keyof ConversationSettings, "title">;

interface SettingColumn<Value> {
  readonly column: ColumnName;
  /** Type of a value in a statement, if it is not the column's. */
  readonly cast?: string;
  readonly write: (value: Value, store: StoreContext) => StatementValue;
  readonly read: (stored: unknown) => Value;
}

const text = <Value extends string = string>(column: ColumnName): SettingColumn<Value> => ({
  column,
  write: (value) => storedText(value),
  read: (stored) => originalText(String(stored)) as Value,
});

/**
 * The one list of the columns that hold settings. Creating, changing, forking, importing and reading a conversation go
 * through it, and the compiler requires every setting that the port has.
 */
const settingsColumns: {
  readonly [Key in Setting]-?: SettingColumn<NonNullable<ConversationSettings[Key]>>;
} = {
  model: text("model"),
  reasoningEffort: text<ReasoningEffort>("effort"),
  instructions: text("instructions"),
  compactThreshold: {
    column: "compact_threshold",
    write: (value) => value,
    read: (stored) => Number(stored),
  },
  metadata: {
    column: "metadata",
    cast: "::jsonb",
    write: (value, store) => boundedJson(value, store.maxBytes),
    read: (stored) => originalJson(String(stored)) as Record<string, unknown>,
  },
  pinned: { column: "pinned", write: () => true, read: () => true },
  temporary: { column: "temporary", write: () => true, read: () => true },
};

const settings = Object.keys(settingsColumns) as Setting[];

const all = Object.values(settingsColumns) as readonly SettingColumn<unknown>[];

/** The columns, for the list of an INSERT. */
export const settingNames = all.map(({ column }) => column).join(", ");

/** Returns the columns as they are read, of a table with this alias. */
export function settingsOf(alias: string): string {
  return all
    .map(({ column, cast }) =>
      cast === undefined ? `${alias}.${column}` : `${alias}.${column}::text AS ${column}`,
    )
    .join(", ");
}

/** Assigns each column the value that the row with this alias has. */
export function settingsFrom(alias: string): string {
  return all.map(({ column }) => `${column} = ${alias}.${column}`).join(", ");
}

/** Returns the parameters of `settingValues`, the first of which is `$first`. */
export function settingParameters(first: number): string {
  return all.map(({ cast = "" }, index) => `$${first + index}${cast}`).join(", ");
}

/** Returns the values in the order of the columns. */
export function settingValues(store: StoreContext, given: ConversationSettings): StatementValue[] {
  return settings.map((key) => storedValue(store, key, given[key]));
}

/** Returns the columns that a change names, each with its parameter's cast and its value; null clears a setting. */
export function changedSettings(
  store: StoreContext,
  changes: { readonly [Key in Setting]?: ConversationSettings[Key] | null | undefined },
): { readonly column: string; readonly cast: string; readonly value: StatementValue }[] {
  return settings.flatMap((key) => {
    if (changes[key] === undefined) return [];
    const { column, cast = "" } = settingsColumns[key];
    return [{ column, cast, value: storedValue(store, key, changes[key]) }];
  });
}

/** Reads the settings of a row that `settingsOf` selected. */
export function readSettings(row: Readonly<Record<string, unknown>>): Omit<ConversationSettings, "title"> {
  const found: Record<string, unknown> = {};
  for (const key of settings) {
    const { column, read } = settingsColumns[key];
    const stored = row[column];
    if (stored !== null) found[key] = read(stored);
  }
  return found;
}

function storedValue(store: StoreContext, key: Setting, value: unknown): StatementValue {
  if (value === undefined || value === null) return null;
  return (settingsColumns[key] as SettingColumn<unknown>).write(value, store);
}
