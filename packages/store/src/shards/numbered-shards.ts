import { omitUndefined } from "@parley/core/messages";
import { defaultSchema } from "../in-schema.js";
import type { ShardOptions } from "./shard.js";

/** A server whose database is divided into a number of schemas. */
export interface NumberedShardsOptions extends Omit<ShardOptions, "name"> {
  /** Number of schemas. It can grow: the existing ones keep their names. */
  readonly schemas: number;
}

/**
 * Returns the shards of a database that is divided into a number of schemas: `s0` in the schema of a store that is not
 * divided, so that such a store becomes the first shard, `s1` in the schema `parley_1`, and so on.
 */
export function numberedShards(options: NumberedShardsOptions): ShardOptions[] {
  const { url, schemas, schema = defaultSchema, listenUrl, transactionPooler } = options;
  return Array.from({ length: schemas }, (_, number) => ({
    name: `s${number}`,
    url,
    schema: number === 0 ? schema : `${schema}_${number}`,
    ...omitUndefined({ listenUrl, transactionPooler }),
  }));
}
