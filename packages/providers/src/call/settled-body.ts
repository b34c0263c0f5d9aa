import { jsonText } from "@parley/http";
import { join } from "./lowered-history.js";

/** The start of a list in a request body. */
export interface SettledList<Field> {
  readonly field: Field;
  /** The JSON text of the first items, with commas between them. */
  readonly settled: string;
  /** The caller's fields that are part of the body. A list among them replaces this one. */
  readonly extra: object | undefined;
}

/**
 * Returns a request body whose list `field` starts with items that are already JSON text. The body equals one
 * that holds all items, and is sent as the same text; only the items after those are serialized again.
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
      // Concatenated, not joined: the settled text is long, and is copied once, when it is sent.
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
