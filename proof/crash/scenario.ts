import type { SentPart } from "@parley/wire";
import type { SentMessage } from "../../test/kill/client-record.js";
import type { ScenarioClient, SentAttempt } from "./scenario-client.js";
import { isRefusedWith } from "./until-answered.js";

/** A conversation that a client has with nodes that may die. */
export type Scenario = (client: ScenarioClient) => Promise<void>;

/**
 * The scenario: a conversation in which everything happens that can happen to one. Each step gets what it waits for
 * even when a node dies before it; then the steps after it are about a turn that was cut short, or continued
 * elsewhere.
 */
export async function converse(client: ScenarioClient): Promise<void> {
  await talk(client);
  await stopInTheMiddle(client);
  await compactAndFork(client);
}

/** A long turn with a message that steers it; behind it a queue that is edited, reordered and shortened. */
async function talk(client: ScenarioClient): Promise<void> {
  const first = client.chat("long");
  first.sealed.catch(() => {});
  await client.untilWorking(first.message, "slow");
  await client.steer();
  const edited = await client.enqueue("retry");
  const removed = await client.enqueue("long");
  const moved = await client.enqueue("talk");
  await client.edit(edited, "talk");
  await client.moveBefore(moved, edited);
  await client.remove(removed);
  await client.setTitle(`Titled after ${first.message.messageId}`);
  await first.sealed;
  await client.rest();
}

/** A turn that is stopped while a tool works, and what waits behind it. */
async function stopInTheMiddle(client: ScenarioClient): Promise<void> {
  const message = await client.send("fail");
  await client.untilWorking(message, "once");
  await client.enqueue("talk");
  await client.stop();
  await client.untilSealed(message);
  await client.setEffort("low");
  await client.setPinned(true);
  await client.rest();
}

/** A compaction with a message that waits for it, and a fork that continues by itself. */
async function compactAndFork(client: ScenarioClient): Promise<void> {
  await client.setTemporary(true);
  const compaction = client.compact();
  await client.untilActive(compaction);
  await client.enqueue("talk");
  await compaction;
  await client.setTemporary(false);
  await client.rest();
  const forked = await client.fork("retry");
  await client.untilSealed(forked);
  await client.rest(forked.conversationId);
}

/**
 * The scenario of decisions: a turn with calls that are allowed, denied, changed, and decided on by two people at
 * once; a turn that is stopped while it waits; and one with questions, from the model and from a tool that runs.
 */
export async function decide(client: ScenarioClient): Promise<void> {
  const paid = await client.send("pay");
  await client.decideAll(paid);
  await client.rest();
  const stopped = await client.enqueue("pay");
  await client.decideOnce(stopped);
  await client.stop();
  await client.untilSealed(stopped);
  await client.rest();
  const asked = await client.send("ask");
  await client.decideAll(asked);
  await client.rest();
}

const pieceBytes = 256 * 1_024;

/**
 * The scenario of files: messages with files, in the log and in the queue, some of them with the same bytes; a queued
 * one that is removed; an upload that is never sent; and a conversation with files that is forked, and removed with
 * its fork.
 */
export async function attach(client: ScenarioClient): Promise<void> {
  const { uploader } = client;
  await sendFiles(client, { large: 2 * pieceBytes + 10, small: 100 });
  const busy = client.chat("long");
  busy.sealed.catch(() => {});
  await client.untilWorking(busy.message, "slow");
  await enqueueFiles(client, { small: 100, waiting: pieceBytes });
  const out = await enqueueFiles(client, { "taken-out": 1_000 });
  await client.remove(out);
  if (out.removal === "done") client.attached.delete(out.messageId);
  await busy.sealed;
  await client.rest();
  await uploader.upload("unsent", 2_000);
  const [side, branch] = [client.sideId("side"), client.sideId("branch")];
  const sent = await sendFiles(client, { large: 2 * pieceBytes + 10, aside: pieceBytes + 1 }, side);
  await uploader.fork(side, branch);
  await uploader.removeConversation(side);
  await uploader.expectFiles(branch, 2);
  const aside = client.attached.get(sent.messageId)?.[1] ?? "";
  await uploader.removeConversation(branch);
  client.forget(sent);
  client.attached.delete(sent.messageId);
  await uploader.untilGone(aside);
}

type Sizes = Readonly<Record<string, number>>;

/** Uploads files and sends them; both again, if they expired before they were sent. */
async function sendFiles(
  client: ScenarioClient,
  sizes: Sizes,
  conversationId?: string,
): Promise<SentMessage> {
  const place = conversationId === undefined ? {} : { conversationId };
  return attaching(client, sizes, (parts) => {
    const { message, sealed } = client.chat("talk", { parts, ...place });
    return { message, done: sealed };
  });
}

/** Uploads files and puts them into the queue. */
function enqueueFiles(client: ScenarioClient, sizes: Sizes): Promise<SentMessage> {
  return attaching(client, sizes, (parts) => client.enqueueParts("talk", parts));
}

async function attaching(
  client: ScenarioClient,
  sizes: Sizes,
  send: (parts: readonly SentPart[]) => SentAttempt,
): Promise<SentMessage> {
  for (;;) {
    const uploads = [];
    for (const [name, size] of Object.entries(sizes)) uploads.push(await client.uploader.upload(name, size));
    const { message, done } = send(uploads.map(({ part }) => part));
    try {
      await done;
      client.attached.set(
        message.messageId,
        uploads.map(({ info }) => info.hash),
      );
      return message;
    } catch (error) {
      // A message that was admitted is answered again. This one never was.
      if (!isRefusedWith(error, "invalid_request")) throw error;
      client.forget(message);
    }
  }
}
