import { invalidField } from "@parley/core/errors";
import type { Connection, Database, Statement } from "./database.js";

/** Schema that statements and migrations are written for, and the default. */
export const defaultSchema = "parley";

/** Form of a name as PostgreSQL keeps it without quotes, so that it can be typed in a console as it is configured. */
const schemaForm = /^[a-z_][a-z0-9_]{0,58}$/;

/**
 * Refuses a text that cannot be the name of Parley's schema. `public` and the server's own schemas belong to others.
 */
export function checkSchemaName(schema: string): string {
  if (!schemaForm.test(schema)) {
    throw invalidField("schema", "1 to 59 of the characters a-z 0-9 _, not beginning with a digit");
  }
  if (schema === "public" || schema === "information_schema" || schema.startsWith("pg_")) {
    throw invalidField("schema", `${schema} belongs to others; choose a schema for Parley alone`);
  }
  return schema;
}

/**
 * Maximum number of cached texts. Statements have few: those that are built with each call must not fill the memory.
 */
const mostTexts = 2_000;

/**
 * Returns the same database, where statements that are written for the schema `parley` use another one. Each names its
 * tables with the schema, so no search path is needed, which poolers would not keep. A prepared statement has the
 * schema in its name: one connection may serve two schemas.
 */
export function inSchema(database: Database, schema: string): Database {
  checkSchemaName(schema);
  if (schema === defaultSchema) return database;
  const translated = schemaStatements(schema);
  const connected = (connection: Connection): Connection => ({
    query: (statement) => connection.query(translated(statement)),
    batch: (statements) => connection.batch(statements.map(translated)),
  });
  return {
    ...connected(database),
    transaction: (work) => database.transaction((connection) => work(connected(connection))),
    trouble: () => database.trouble?.(),
    ...(database.timeLimit === undefined ? {} : { timeLimit: database.timeLimit.bind(database) }),
    close: () => database.close(),
  };
}

/** Translates statements that are written for the schema `parley`, for another one. */
export function schemaStatements(schema: string): (statement: Statement) => Statement {
  if (schema === defaultSchema) return (statement) => statement;
  const texts = new Map<string, string>();
  return (statement) => {
    let text = texts.get(statement.text);
    if (text === undefined) {
      text = schemaText(statement.text, schema);
      if (texts.size >= mostTexts) texts.clear();
      texts.set(statement.text, text);
    }
    const { name } = statement;
    return name === undefined ? { ...statement, text } : { ...statement, text, name: `${schema}.${name}` };
  };
}

/** Translates a text that is written for the schema `parley`, for another one. */
export function schemaText(text: string, schema: string): string {
  return text.replace(/"parley"\.|\bparley\./g, `"${schema}".`);
}
