import { jsonText } from "@parley/http";
import { join } from "./lowered-history.js";

/** The beginning of a list in a request body. */
export interface SettledList<Field> {
  readonly field: Field;
  /** The JSON text of the first items, with commas between them. */
  readonly settled: string;
  /** Fields of the caller's that are part of the body. A list of theirs replaces this one. */
  readonly extra: object | undefined;
}

/**
 * A request body whose list `field` begins with items that are JSON text already. The body is the same object, and is
 * sent as the same text, as one that holds all items; only the items behind those are written out again.
 */
export function withSettled<Body extends object>(
  { field, settled, extra }: SettledList<keyof Body & string>,
  body: Body,
): Body {
  const items = body[field];
  if (settled === "" || !Array.isArray(items) || Object.hasOwn(extra ?? {}, field)) return body;
  const whole = { ...body };
  Object.defineProperty(whole, field, {
    enumerable: true,
    get: (): unknown => [...(JSON.parse(`[${settled}]`) as unknown[]), ...items],
  });
  Object.defineProperty(whole, jsonText, {
    value: () => {
      // Concatenated, not joined: the settled text is long, and is copied once, by whoever sends it.
      let fields = "";
      for (const [key, value] of Object.entries(body)) {
        const text = key === field ? listText(settled, items) : JSON.stringify(value);
        if (text !== undefined) fields = join(fields, `${JSON.stringify(key)}:${text}`);
      }
      return `{${fields}}`;
    },
  });
  return Object.freeze(whole);
}

function listText(settled: string, items: readonly unknown[]): string {
  return `[${join(settled, items.map((item) => JSON.stringify(item)).join(","))}]`;
}
