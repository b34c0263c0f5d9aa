import { getTableColumns, getTableName, is, Table } from "drizzle-orm";
import type { Connection, Database, Statement } from "./database.js";
import * as schema from "./schema/index.js";

const schemaTables = Object.values(schema).flatMap((each): Table[] => (is(each, Table) ? [each] : []));

/** The tables of the schema, by name. */
const tables = new Set(schemaTables.map((table) => getTableName(table)));

/** Tables whose rows belong to one log, or to an owner's part of an index: a write names the log or the owner. */
const owned = new Set(
  schemaTables
    .filter(
      (table) =>
        "log" in getTableColumns(table) ||
        ["search_owner", "webhook", "file_owner", "blob", "upload", "secret", "secret_hold"].includes(
          getTableName(table),
        ),
    )
    .map((table) => getTableName(table)),
);

const volatile =
  /\b(clock_timestamp|timeofday|random|gen_random_uuid|uuidv[47]|nextval|currval|lastval|setval|set_config|pg_notify|txid_current|pg_current_xact_id|pg_(?:try_)?advisory\w*|pg_sleep\w*)\s*\(/i;

const stable =
  /\b(now|statement_timestamp|transaction_timestamp|current_setting|date_trunc|to_char|age|timezone|json_build_\w+|jsonb_build_\w+|json_agg|jsonb_agg|to_json|to_jsonb|array_to_json|row_to_json|to_tsvector|concat|concat_ws)\s*\(|\bcurrent_timestamp\b|\bcurrent_date\b/i;

/** `date_part` of a time depends on the settings of a session; of the span between two times it does not. */
const momentPart = /\b(date_part|extract)\s*\((?![^()]* - timestamptz)/i;

/** A function of the time. */
const momentary = /\b(now|statement_timestamp|transaction_timestamp|age)\s*\(|\bcurrent_(timestamp|date)\b/i;

/**
 * Returns the rules of statements that a text breaks: requirements of an engine that distributes schemas over servers,
 * and of a pooler that hands out connections per transaction. Each is named with the part of the text that breaks it.
 */
export function brokenRules(text: string): string[] {
  const plain = text.replace(/--[^\n]*/g, " ").replace(/\s+/g, " ");
  const bare = plain.replace(/'(?:[^']|'')*'/g, "''");
  const broken: string[] = [];
  if (/search_path/i.test(plain)) broken.push("no search path: search_path");
  const withNames = [...bare.matchAll(/\b(\w+)(?: \([^()]*\))? AS (?:NOT )?(?:MATERIALIZED )?\(/gi)];
  const named = new Set(withNames.map(([, name]) => name));
  for (const name of tablesIn(bare)) {
    if (tables.has(name) && !named.has(name)) broken.push(`names its schema: ${name}`);
  }
  for (const [, name = ""] of plain.matchAll(/\b(?:nextval|currval|setval)\s*\(\s*'([^']*)'/gi)) {
    if (!name.startsWith("parley.")) broken.push(`names its schema: ${name}`);
  }
  const writes = writesIn(bare);
  if (writes.length === 0) return broken;
  const called = volatile.exec(bare)?.[1];
  if (called !== undefined) broken.push(`no volatile function in a write: ${called}`);
  for (const values of valuesIn(bare)) {
    if (/\bSELECT\b/i.test(values)) broken.push(`no subquery in VALUES: ${values}`);
  }
  const clauses = clausesIn(bare);
  for (const write of writes) {
    const { text } = write;
    if (conditionalsIn(text).some((part) => momentary.test(part)))
      broken.push(`no function of the time in CASE or COALESCE of a write: ${text}`);
    if (write.kind === "INSERT INTO") {
      const [, upsert = ""] = /\bDO UPDATE\b.*?\bWHERE\b(.*)$/i.exec(text) ?? [];
      if (stable.test(upsert)) broken.push(`no stable function in an upsert's condition: ${upsert}`);
      const asked = text.slice(text.search(/\bSELECT\b/i));
      if (readsTables(asked, clauses) && (stable.test(asked) || momentPart.test(asked)))
        broken.push(`no stable function in an INSERT that reads a table: ${text}`);
    }
    const [, returned = ""] = /\bRETURNING\b(.*)$/i.exec(write.text) ?? [];
    const found = stable.exec(returned)?.[0] ?? momentPart.exec(returned)?.[0];
    if (found !== undefined) broken.push(`no stable function in RETURNING: ${found}`);
    if (owned.has(write.table) && !isConfined(write)) broken.push(`confined to one owner: ${write.text}`);
  }
  return broken;
}

/** Returns the bodies of the clauses of WITH that only read and that an engine may merge into what reads them. */
function clausesIn(bare: string): ReadonlyMap<string, string> {
  const heads = bare.matchAll(/\b(\w+)(?: \([^()]*\))? AS (?:NOT MATERIALIZED )?\( ?(?=SELECT\b)/gi);
  return new Map(
    [...heads].map(({ index, 0: head, 1: name = "" }) => [
      name,
      untilClosed(bare.slice(index + head.length)),
    ]),
  );
}

/** Returns true if a query names a table, or a clause that may be merged into it and does. */
function readsTables(query: string, clauses: ReadonlyMap<string, string>): boolean {
  if (/(?:\b(?:FROM|JOIN)|,) ?parley\.(?!\w+ ?\()\w/i.test(query)) return true;
  return [...clauses].some(
    ([name, body]) =>
      new RegExp(`(?:\\b(?:FROM|JOIN)|,) ${name}\\b`, "i").test(query) &&
      body !== query &&
      readsTables(body, new Map()),
  );
}

/** Returns what is within CASE ... END and COALESCE (...). */
function conditionalsIn(text: string): string[] {
  const cases = [...text.matchAll(/\bCASE\b.*?\bEND\b/gi)].map(([found]) => found);
  const coalesced = [...text.matchAll(/\bCOALESCE ?\(/gi)].map(({ index, 0: head }) =>
    untilClosed(text.slice(index + head.length)),
  );
  return [...cases, ...coalesced];
}

/** Returns the names without a schema at the position of a table, in lists of several, too. */
function* tablesIn(bare: string): Generator<string> {
  for (const [, name = ""] of bare.matchAll(/\b(?:JOIN|INTO|UPDATE|USING) (?:ONLY )?(\w+)\b(?!\.|\()/gi))
    yield name;
  for (const [, list = ""] of bare.matchAll(
    /\bFROM ([^()]*?)(?= (?:WHERE|ORDER|GROUP|LIMIT|UNION)\b|[()]|$)/gi,
  )) {
    for (const item of list.split(",")) yield /^ ?(\w+)\b(?!\.|\()/.exec(item)?.[1] ?? "";
  }
}

interface Write {
  readonly kind: string;
  readonly table: string;
  /** Text from its first word to the end of its part of the statement. */
  readonly text: string;
}

function writesIn(bare: string): Write[] {
  const found = bare.matchAll(/\b(INSERT INTO|DELETE FROM|(?<!FOR )(?<!DO )UPDATE) (?:parley\.)?(\w+)/gi);
  return [...found].map(({ index, 1: kind = "", 2: table = "" }) => {
    return { kind: kind.toUpperCase(), table, text: untilClosed(bare.slice(index)) };
  });
}

/** Returns a text up to the parenthesis that closes the part that it begins in. */
function untilClosed(text: string): string {
  let depth = 0;
  for (let place = 0; place < text.length; place++) {
    if (text[place] === "(") depth += 1;
    if (text[place] === ")") depth -= 1;
    if (depth < 0) return text.slice(0, place);
  }
  return text;
}

function valuesIn(bare: string): string[] {
  return [...bare.matchAll(/\bVALUES \(/gi)].map(({ index }) => untilClosed(bare.slice(index + 8)));
}

function isConfined({ kind, table, text }: Write): boolean {
  const names = table === "search_owner" ? /\b(owner|number)\b/ : /\b(log|owner)\b/;
  if (kind === "INSERT INTO") return names.test(/\(([^)]*)\)/.exec(text)?.[1] ?? "");
  return names.test(/\bWHERE\b(.*)$/i.exec(text)?.[1] ?? "");
}

/** Statements that were run, by text, with the name that each was prepared under. */
export class CapturedStatements {
  readonly #names = new Map<string, string>();
  readonly texts = new Set<string>();
  /** The names of the statements that were run, in order; the texts of those that have none. */
  readonly ran: string[] = [];
  /** Names that were used for two texts. */
  readonly ambiguous = new Set<string>();

  /** Returns the same database, with every statement captured. */
  capturing(database: Database): Database {
    const seen = (connection: Connection): Connection => ({
      query: (statement) => connection.query(this.#seen(statement)),
      batch: (statements) => connection.batch(statements.map((statement) => this.#seen(statement))),
    });
    return {
      ...seen(database),
      transaction: (work) => database.transaction((connection) => work(seen(connection))),
      trouble: () => database.trouble?.(),
      ...(database.timeLimit === undefined ? {} : { timeLimit: database.timeLimit.bind(database) }),
      close: () => database.close(),
    };
  }

  #seen(statement: Statement): Statement {
    const { text, name } = statement;
    this.texts.add(text);
    this.ran.push(name ?? text);
    if (name === undefined) return statement;
    if ((this.#names.get(name) ?? text) !== text) this.ambiguous.add(name);
    this.#names.set(name, text);
    return statement;
  }
}
