import type { SentPart } from "@parley/wire";
import type { SentMessage } from "../../test/kill/book.js";
import type { SentAttempt, Talker } from "./talker.js";
import { isRefusedWith } from "./until-answered.js";

/** A conversation that a client has with nodes that may die. */
export type Scenario = (talker: Talker) => Promise<void>;

/**
 * The scenario: a conversation in which everything happens that can happen to one. Each step gets what it waits for
 * even when a node dies before it; then the steps after it are about a turn that was cut short, or continued
 * elsewhere.
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
  await talker.setPinned(true);
  await talker.rest();
}

/** A compaction with a message that waits for it, and a fork that continues by itself. */
async function compactAndFork(talker: Talker): Promise<void> {
  await talker.setTemporary(true);
  const compaction = talker.compact();
  await talker.untilActive(compaction);
  await talker.enqueue("talk");
  await compaction;
  await talker.setTemporary(false);
  await talker.rest();
  const forked = await talker.fork("retry");
  await talker.untilSealed(forked);
  await talker.rest(forked.conversationId);
}

/**
 * The scenario of decisions: a turn with calls that are allowed, denied, changed, and decided on by two people at
 * once; a turn that is stopped while it waits; and one with questions, from the model and from a tool that runs.
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

const pieceBytes = 256 * 1_024;

/**
 * The scenario of files: messages with files, in the log and in the queue, some of them with the same bytes; a queued
 * one that is removed; an upload that is never sent; and a conversation with files that is forked, and removed with
 * its fork.
 */
export async function attach(talker: Talker): Promise<void> {
  const { uploader } = talker;
  await sendFiles(talker, { large: 2 * pieceBytes + 10, small: 100 });
  const busy = talker.chat("long");
  busy.sealed.catch(() => {});
  await talker.untilWorking(busy.message, "slow");
  await enqueueFiles(talker, { small: 100, waiting: pieceBytes });
  const out = await enqueueFiles(talker, { "taken-out": 1_000 });
  await talker.remove(out);
  if (out.removal === "done") talker.attached.delete(out.messageId);
  await busy.sealed;
  await talker.rest();
  await uploader.upload("unsent", 2_000);
  const [side, branch] = [talker.sideId("side"), talker.sideId("branch")];
  const sent = await sendFiles(talker, { large: 2 * pieceBytes + 10, aside: pieceBytes + 1 }, side);
  await uploader.fork(side, branch);
  await uploader.removeConversation(side);
  await uploader.expectFiles(branch, 2);
  const aside = talker.attached.get(sent.messageId)?.[1] ?? "";
  await uploader.removeConversation(branch);
  talker.forget(sent);
  talker.attached.delete(sent.messageId);
  await uploader.untilGone(aside);
}

type Sizes = Readonly<Record<string, number>>;

/** Uploads files and sends them; both again, if they expired before they were sent. */
async function sendFiles(talker: Talker, sizes: Sizes, conversationId?: string): Promise<SentMessage> {
  const place = conversationId === undefined ? {} : { conversationId };
  return attaching(talker, sizes, (parts) => {
    const { message, sealed } = talker.chat("talk", { parts, ...place });
    return { message, done: sealed };
  });
}

/** Uploads files and puts them into the queue. */
function enqueueFiles(talker: Talker, sizes: Sizes): Promise<SentMessage> {
  return attaching(talker, sizes, (parts) => talker.enqueueParts("talk", parts));
}

async function attaching(
  talker: Talker,
  sizes: Sizes,
  send: (parts: readonly SentPart[]) => SentAttempt,
): Promise<SentMessage> {
  for (;;) {
    const uploads = [];
    for (const [name, size] of Object.entries(sizes)) uploads.push(await talker.uploader.upload(name, size));
    const { message, done } = send(uploads.map(({ part }) => part));
    try {
      await done;
      talker.attached.set(
        message.messageId,
        uploads.map(({ info }) => info.hash),
      );
      return message;
    } catch (error) {
      // A message that was admitted is answered again. This one never was.
      if (!isRefusedWith(error, "invalid_request")) throw error;
      talker.forget(message);
    }
  }
}
