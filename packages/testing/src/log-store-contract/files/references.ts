import type { ConversationMessage } from "@parley/core/messages";
import type { UploadRecord } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import { message, outcomeOf, refused, type Scenario, type TopicCase, uniqueId } from "../scenario.js";
import { collectAll, filePart, freshBytes, hashBytes, readAll, upload } from "./uploaded-file.js";

/** Uploads a file that is kept no longer than something refers to it. */
async function briefFile(s: Scenario): Promise<UploadRecord> {
  return upload(s.store, freshBytes(12), { unsentMs: 0 });
}

function withFile(conversationId: string, file: UploadRecord, role?: "assistant"): ConversationMessage {
  return message(conversationId, {
    content: [{ type: "text", text: "Look:" }, filePart(file)],
    ...(role === undefined ? {} : { role }),
  });
}

/** Collects, and returns true if the bytes still exist. */
async function isKept(s: Scenario, { blob }: UploadRecord): Promise<boolean> {
  await collectAll(s);
  return (await readAll(s.store, blob)) !== null;
}

/** Cases of references: bytes stay as long as a message needs them, and no longer. */
export const referenceCases: readonly TopicCase[] = [
  {
    name: "a file that was sent stays, reads as it was sent, and goes with its conversation",
    async run(s) {
      const file = await briefFile(s);
      const id = uniqueId();
      const turn = await s.start(id, { message: withFile(id, file) });
      checkEqual(turn.entries[0]?.message.content[1], filePart(file), "the part that the turn begins with");
      await s.seal(turn, [message(id, { role: "assistant" })]);
      check(await isKept(s, file), "the bytes are kept");
      const [entry] = await s.log(id, s.otherStore);
      checkEqual(entry?.message.content[1], filePart(file), "the part in the log");
      const { chunks } = await s.store.readChunks({ conversationId: id });
      checkEqual(chunks[1]?.chunk.type === "text" && chunks[1].chunk.file?.seq, 2, "the seq in its chunk");
      await s.store.remove(id, { cascade: false });
      check(!(await isKept(s, file)), "the bytes are gone with the conversation");
      checkEqual((await s.store.fileUsage()).bytes, 0, "what the owner's files come to");
    },
  },
  {
    name: "a message that refers to bytes that are not the owner's is refused, and leaves nothing behind",
    async run(s) {
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      const theirs = await upload(stranger, freshBytes(8));
      const id = uniqueId();
      const sent = s.send(id, { message: withFile(id, theirs) });
      await refused(sent, "invalid_request", "another owner's hash");
      checkEqual(await s.store.get(id), null, "the conversation");
      const turn = await s.start(id);
      const waiting = s.send(id, { message: withFile(id, theirs) });
      await refused(waiting, "invalid_request", "the same to a busy conversation");
      const answer = withFile(id, theirs, "assistant");
      await refused(s.commit(turn, [answer]), "invalid_request", "a step");
      await refused(s.seal(turn, [answer]), "invalid_request", "a seal");
      await s.seal(turn, [message(id, { role: "assistant" })]);
      await refused(s.store.appendMessages([withFile(id, theirs)]), "invalid_request", "an append");
      const fork = { conversationId: id, atSeq: 2, newId: uniqueId() };
      const { conversationId: _, ...admit } = s.admission(fork.newId, {
        message: withFile(fork.newId, theirs),
      });
      await refused(s.store.fork({ ...fork, admit }), "invalid_request", "a fork");
      checkEqual(await s.store.get(fork.newId), null, "the fork");
      checkEqual((await s.texts(id)).length, 2, "messages in the log");
    },
  },
  {
    name: "whatever writes a message keeps its files: steps, seals, appends and forks that admit",
    async run(s) {
      const id = uniqueId();
      const turn = await s.start(id);
      const [stepped, sealed, appended, forked] = [
        await briefFile(s),
        await briefFile(s),
        await briefFile(s),
        await briefFile(s),
      ];
      await s.commit(turn, [withFile(id, stepped, "assistant")]);
      const { lastSeq } = await s.seal(turn, [withFile(id, sealed, "assistant")]);
      await s.store.appendMessages([withFile(id, appended)]);
      const newId = uniqueId();
      const { conversationId: _, ...admit } = s.admission(newId, { message: withFile(newId, forked) });
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId, admit });
      for (const file of [stepped, sealed, appended, forked])
        check(await isKept(s, file), "the bytes are kept");
      await s.store.remove(id, { cascade: false });
      check(!(await isKept(s, appended)), "what the fork does not share is gone");
      for (const file of [stepped, sealed, forked])
        check(await isKept(s, file), "what the fork shows is kept");
      await s.store.remove(newId, { cascade: false });
      for (const file of [stepped, sealed, forked])
        check(!(await isKept(s, file)), "all is gone with the fork");
    },
  },
  {
    name: "a message that waits keeps its files, through edits and its delivery, until it is taken out",
    async run(s) {
      const id = uniqueId();
      const turn = await s.start(id);
      const [removed, steered, queued] = [await briefFile(s), await briefFile(s), await briefFile(s)];
      const send = (file: UploadRecord, mode: "steer" | "queue") =>
        s.enqueue(id, { message: withFile(id, file), mode });
      const taken = withFile(id, removed);
      await s.enqueue(id, { message: taken });
      await send(steered, "steer");
      const last = withFile(id, queued);
      await s.enqueue(id, { message: last, mode: "queue" });
      for (const file of [removed, steered, queued]) check(await isKept(s, file), "what waits is kept");
      await s.store.queue(id, { op: "edit", id: last.id, text: "Another text" });
      check(await isKept(s, queued), "an edit keeps the file");
      await s.store.queue(id, { op: "remove", id: taken.id });
      check(!(await isKept(s, removed)), "a message that was taken out keeps nothing");
      const { promoted } = await s.commit(turn, [message(id, { role: "assistant" })], {
        promoteSteers: true,
      });
      checkEqual(promoted[0]?.message.content[1], filePart(steered), "the part that was delivered");
      check(await isKept(s, steered), "a message that joined the turn keeps its file");
      const { next } = await s.seal(turn, []);
      checkEqual(next?.entries[0]?.message.content[1], filePart(queued), "the part of the next turn");
      check(await isKept(s, queued), "the next turn keeps its file");
      await s.store.remove(id, { cascade: false });
      check(!(await isKept(s, queued)), "all is gone with the conversation");
    },
  },
  {
    name: "a removed conversation frees the files of messages that waited in it",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const file = await briefFile(s);
      await s.enqueue(id, { message: withFile(id, file) });
      await s.store.remove(id, { cascade: false });
      check(!(await isKept(s, file)), "the bytes are gone");
    },
  },
  {
    name: "bytes that two conversations refer to go with the second",
    async run(s) {
      const file = await briefFile(s);
      const [one, other] = [uniqueId(), uniqueId()];
      for (const id of [one, other]) await s.seal(await s.start(id, { message: withFile(id, file) }));
      await s.store.remove(one, { cascade: false });
      check(await isKept(s, file), "the other one keeps them");
      await s.store.remove(other, { cascade: false });
      check(!(await isKept(s, file)), "they are not kept");
    },
  },
  {
    name: "an imported conversation keeps its files, and one whose files are missing is refused",
    async run(s) {
      const file = await briefFile(s);
      const importing = (id: string, part: ReturnType<typeof filePart>) =>
        s.store.importConversation({
          conversationId: id,
          settings: {},
          createdAt: 1_700_000_000_000,
          lastActivityAt: 1_700_000_000_000,
          closed: false,
          entries: [{ message: message(id, { content: [part] }), firstSeq: 1 }],
          turns: [],
        });
      const id = uniqueId();
      await importing(id, filePart(file));
      check(await isKept(s, file), "the bytes are kept");
      const missing = { ...filePart(file), hash: hashBytes(freshBytes(9)) };
      const refusedId = uniqueId();
      await refused(importing(refusedId, missing), "invalid_request", "missing bytes");
      checkEqual(await s.store.get(refusedId), null, "the refused conversation");
    },
  },
  {
    name: "the collector never takes what is being sent: it is kept, or the message is refused",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 12; round += 1) {
        const file = await briefFile(s);
        const id = uniqueId();
        const [sent] = await Promise.all([
          outcomeOf(s.send(id, { message: withFile(id, file) })),
          s.second.collectBlobs(100),
          s.root.collectBlobs(100),
        ]);
        await collectAll(s);
        const isThere = (await readAll(s.store, file.blob)) !== null;
        if ("code" in sent) checkEqual(sent.code, "invalid_request", "how it is refused");
        checkEqual(isThere, "value" in sent, "whether the bytes are there, as whether the message was taken");
      }
    },
  },
];
