import type { Talker } from "./talker.js";

/** A conversation that a client has with nodes that may die. */
export type Scenario = (talker: Talker) => Promise<void>;

/**
 * The scenario: a conversation in which everything happens that can happen to one. What a step waits for comes to pass
 * also when a node dies before it; then the steps after it are about a turn that was cut short, or went on elsewhere.
 */
export async function converse(talker: Talker): Promise<void> {
  await talk(talker);
  await stopInTheMiddle(talker);
  await compactAndFork(talker);
}

/** A long turn with a message that steers it; behind it a queue that is edited, reordered and shortened. */
async function talk(talker: Talker): Promise<void> {
  const first = talker.chat("long");
  first.sealed.catch(() => {});
  await talker.untilWorking(first.message, "slow");
  await talker.steer();
  const edited = await talker.enqueue("retry");
  const removed = await talker.enqueue("long");
  const moved = await talker.enqueue("talk");
  await talker.edit(edited, "talk");
  await talker.moveBefore(moved, edited);
  await talker.remove(removed);
  await talker.setTitle(`Titled after ${first.message.messageId}`);
  await first.sealed;
  await talker.rest();
}

/** A turn that is stopped while a tool works, and what waits behind it. */
async function stopInTheMiddle(talker: Talker): Promise<void> {
  const message = await talker.send("fail");
  await talker.untilWorking(message, "once");
  await talker.enqueue("talk");
  await talker.stop();
  await talker.untilSealed(message);
  await talker.setEffort("low");
  await talker.rest();
}

/** A compaction with a message that waits for it, and a fork that goes on by itself. */
async function compactAndFork(talker: Talker): Promise<void> {
  const compaction = talker.compact();
  await talker.untilActive(compaction);
  await talker.enqueue("talk");
  await compaction;
  await talker.rest();
  const forked = await talker.fork("retry");
  await talker.untilSealed(forked);
  await talker.rest(forked.conversationId);
}

/**
 * The scenario of decisions: a turn with calls that are allowed, denied, changed, and decided on by two people at once; a
 * turn that is stopped while it waits; and one with questions, from the model and from a tool that runs.
 */
export async function decide(talker: Talker): Promise<void> {
  const paid = await talker.send("pay");
  await talker.decideAll(paid);
  await talker.rest();
  const stopped = await talker.enqueue("pay");
  await talker.decideOnce(stopped);
  await talker.stop();
  await talker.untilSealed(stopped);
  await talker.rest();
  const asked = await talker.send("ask");
  await talker.decideAll(asked);
  await talker.rest();
}
