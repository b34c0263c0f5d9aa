/** Any value that survives JSON unchanged. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. `undefined` members do not survive the wire, so they are not allowed here. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * What a provider needs to see again and nobody else can read: signatures, encrypted reasoning, item ids.
 * Keyed by provider, so that it is replayed only to the one that made it. Opaque: carry it, never read it.
 */
export type ProviderMetadata = Readonly<Record<string, JsonObject>>;

/**
 * A known set of words that may grow. A reader must expect words it does not know; editors still offer the
 * known ones.
 */
export type OpenUnion<Known extends string> = Known | (string & {});
