import { readFile } from "node:fs/promises";
import type { JsonObject, OutputRequest } from "@parley/wire";
import { CliError } from "../../cli-error.js";

/** Reads a file with the JSON Schema of the data that a turn has to return. */
export async function readSchema(file: string): Promise<OutputRequest> {
  const text = await readFile(file, "utf8");
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(`${file} is not valid JSON: ${reason}`, { cause });
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new CliError(`${file} is not a JSON Schema.`, {
      advice: 'It has to be an object with "type": "object".',
    });
  }
  const { title } = schema as { title?: unknown };
  const isName = typeof title === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(title);
  return { schema: schema as JsonObject, ...(isName ? { name: title } : {}) };
}
