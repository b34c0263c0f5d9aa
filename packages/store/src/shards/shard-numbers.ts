/**
 * The numbers of logs and of files that each shard gives: the shard with the number n gives those from n times this one on.
 * So they are unique in the whole installation, and stay the same when their owner moves. 4,096 shards fit into the
 * integers that JavaScript counts exactly.
 */
const numbersPerShard = 2 ** 40;

/** The most shards that an installation can have in its life. */
export const mostShards = 4_096;

/** The number behind which a shard begins to count. */
export function firstNumber(shard: number): number {
  return shard * numbersPerShard;
}

/** The number of the shard that gave a number. Its owner may have moved since. */
export function shardOfNumber(number: number): number {
  return Math.floor(number / numbersPerShard);
}
