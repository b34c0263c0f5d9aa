/**
 * Size of the range of log and file numbers that each shard assigns: the shard with the number n assigns those from n
 * times this one on. So they are unique in the whole installation, and stay the same when their owner moves. 4,096
 * shards fit into the integers that JavaScript counts exactly.
 */
const numbersPerShard = 2 ** 40;

/** Maximum number of shards that an installation can have in its life. */
export const mostShards = 4_096;

/** Returns the number after which a shard starts to count. */
export function firstNumber(shard: number): number {
  return shard * numbersPerShard;
}

/** Returns the number of the shard that assigned a number. Its owner may have moved since. */
export function shardOfNumber(number: number): number {
  return Math.floor(number / numbersPerShard);
}
