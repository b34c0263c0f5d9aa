/** Any value that survives JSON unchanged. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. `undefined` members are lost on the wire, so they are not allowed here. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * Data that a provider needs to see again and no other reader understands: signatures, encrypted reasoning,
 * item ids. Keyed by provider, so that it is replayed only to the one that created it. Opaque: pass it on,
 * never read it.
 */
export type ProviderMetadata = Readonly<Record<string, JsonObject>>;

/**
 * A known set of strings that may grow. A reader must expect unknown strings; editors still offer the known
 * ones.
 */
export type OpenUnion<Known extends string> = Known | (string & {});
