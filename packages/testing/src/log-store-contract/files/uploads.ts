import { derivedBytes, pieceBytes } from "@parley/core/messages";
import type { LogStore } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import { refused, type TopicCase, uniqueId } from "../scenario.js";
import {
  begin,
  collectAll,
  freshBytes,
  hashBytes,
  longMs,
  plenty,
  readAll,
  upload,
} from "./uploaded-file.js";

/** Cases of uploads: written piece by piece, read by any range, once per owner, and removed if they are not sent. */
export const uploadCases: readonly TopicCase[] = [
  {
    name: "an upload gives back its bytes, name and type",
    async run(s) {
      const bytes = freshBytes(2 * pieceBytes + 1_234);
      const given = { name: "'\u0000\ud800 ä.png", mediaType: "image/png" };
      const record = await upload(s.store, bytes, given);
      const { id, hash, size, name, mediaType, expiresAt } = record;
      checkEqual(
        { hash, size, name, mediaType },
        { hash: hashBytes(bytes), size: bytes.byteLength, ...given },
        "it",
      );
      check(expiresAt > 0, "it expires");
      checkEqual(await s.otherStore.findUpload(id), record, "what another handle finds");
      checkEqual(await s.otherStore.findBlob(hash), { blob: record.blob, hash, size }, "its bytes by hash");
      checkEqual(await readAll(s.otherStore, record.blob), bytes, "the bytes");
      checkEqual((await s.store.fileUsage()).bytes, bytes.byteLength, "what the owner's files come to");
    },
  },
  {
    name: "a range ends with its piece, with its length or with the file, whichever comes first",
    async run(s) {
      const bytes = freshBytes(pieceBytes + 100);
      const { blob } = await upload(s.store, bytes);
      const read = async (offset: number, length: number) => s.store.readBlob({ blob, offset, length });
      checkEqual(await read(10, 5), bytes.slice(10, 15), "a range within a piece");
      checkEqual(
        await read(pieceBytes - 3, 10),
        bytes.slice(pieceBytes - 3, pieceBytes),
        "over the end of a piece",
      );
      checkEqual(await read(pieceBytes, 10), bytes.slice(pieceBytes, pieceBytes + 10), "the next piece");
      checkEqual(await read(pieceBytes + 98, 10), bytes.slice(pieceBytes + 98), "over the end of the file");
      checkEqual(await read(pieceBytes + 100, 10), null, "behind the end");
      checkEqual(await read(5 * pieceBytes, 10), null, "far behind the end");
    },
  },
  {
    name: "an empty file is a file",
    async run(s) {
      const record = await upload(s.store, new Uint8Array(0));
      checkEqual(record.size, 0, "its size");
      checkEqual(await s.store.readBlob({ blob: record.blob, offset: 0, length: 1 }), null, "its bytes");
      checkEqual((await upload(s.store, new Uint8Array(0))).blob, record.blob, "the bytes of a second one");
    },
  },
  {
    name: "pieces come in their order, and the last one may come again",
    async run(s) {
      const bytes = freshBytes(pieceBytes + 7);
      const id = await begin(s.store, bytes);
      const piece = (n: number, data: Uint8Array) =>
        s.store.writePiece({ id, n, data, stalledMs: longMs, ownerBytes: plenty });
      await piece(1, bytes.slice(pieceBytes));
      checkEqual((await s.store.fileUsage()).bytes, bytes.byteLength, "a piece that comes again counts once");
      await refused(piece(3, new Uint8Array(1)), "invalid_request", "a piece that leaves a gap");
      await refused(piece(2, new Uint8Array(1)), "invalid_request", "a piece behind a short one");
      await refused(piece(0, bytes.slice(0, pieceBytes)), "invalid_request", "an earlier piece again");
      await refused(piece(1, new Uint8Array(0)), "invalid_request", "an empty piece");
      await refused(piece(1, new Uint8Array(pieceBytes + 1)), "invalid_request", "a piece that is too large");
      await refused(
        s.store.writePiece({
          id: uniqueId(),
          n: 0,
          data: new Uint8Array(1),
          stalledMs: longMs,
          ownerBytes: plenty,
        }),
        "invalid_request",
        "a piece of an unknown upload",
      );
      await refused(
        s.store.beginUpload({ id, stalledMs: longMs }),
        "message_conflict",
        "the id of an upload again",
      );
      const end = { id, hash: hashBytes(bytes), name: "a", mediaType: "b/c", unsentMs: longMs };
      const { blob } = await s.store.finishUpload(end);
      checkEqual(await readAll(s.store, blob), bytes, "the bytes");
      await refused(piece(1, bytes.slice(pieceBytes)), "invalid_request", "a piece of a finished upload");
    },
  },
  {
    name: "an upload is read once it is finished, and finishing it again answers the same",
    async run(s) {
      const bytes = freshBytes(10);
      const id = await begin(s.store, bytes);
      checkEqual(await s.store.findUpload(id), null, "an unfinished one");
      const end = { id, hash: hashBytes(bytes), name: "a", mediaType: "b/c", unsentMs: longMs };
      const record = await s.store.finishUpload(end);
      checkEqual(await s.otherStore.finishUpload(end), record, "the second answer");
      const other = { ...end, hash: hashBytes(freshBytes(10)) };
      await refused(s.store.finishUpload(other), "invalid_request", "finishing it with other bytes");
      await refused(
        s.store.finishUpload({ ...end, id: uniqueId() }),
        "invalid_request",
        "finishing an unknown one",
      );
    },
  },
  {
    name: "the same bytes are stored once, also where two uploads of them end at the same time",
    twoHandles: true,
    async run(s) {
      const bytes = freshBytes(pieceBytes + 1);
      const first = await upload(s.store, bytes, { name: "one.bin" });
      const [second, third] = await Promise.all([
        upload(s.store, bytes, { name: "two.bin" }),
        upload(s.otherStore, bytes, { name: "three.bin" }),
      ]);
      checkEqual([second.blob, third.blob], [first.blob, first.blob], "where their bytes are");
      checkEqual((await s.store.findUpload(second.id))?.name, "two.bin", "the name of the second");
      checkEqual((await s.store.fileUsage()).bytes, bytes.byteLength, "what the owner's files come to");
      const fresh = freshBytes(3);
      const [one, other] = await Promise.all([upload(s.store, fresh), upload(s.otherStore, fresh)]);
      checkEqual(one.blob, other.blob, "where the bytes of two at once are");
      checkEqual((await s.store.fileUsage()).bytes, bytes.byteLength + 3, "what the files come to then");
    },
  },
  {
    name: "an owner has so many bytes and no more, and dropping an upload gives its bytes back",
    async run(s) {
      const ownerBytes = pieceBytes + 10;
      const first = await upload(s.store, freshBytes(pieceBytes), { ownerBytes });
      const id = await begin(s.store, freshBytes(8), { ownerBytes });
      const other = uniqueId();
      await s.store.beginUpload({ id: other, stalledMs: longMs });
      const piece = { id: other, n: 0, data: freshBytes(3), stalledMs: longMs, ownerBytes };
      await refused(s.store.writePiece(piece), "limit_exceeded", "a byte too many");
      check(await s.store.dropUpload(id), "an unfinished upload can be dropped");
      await s.store.writePiece(piece);
      check(await s.store.dropUpload(first.id), "a finished one, too");
      checkEqual((await s.store.fileUsage()).bytes, 3, "what is left");
      checkEqual(await s.store.findUpload(first.id), null, "a dropped upload");
      checkEqual(await readAll(s.store, first.blob), null, "its bytes");
      check(!(await s.store.dropUpload(first.id)), "there is nothing to drop the second time");
    },
  },
  {
    name: "uploads and bytes of another owner do not exist for an owner, also for one that has the same bytes",
    async run(s) {
      const bytes = freshBytes(20);
      const mine = await upload(s.store, bytes);
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      checkEqual(await stranger.findUpload(mine.id), null, "the upload");
      checkEqual(await stranger.findBlob(mine.hash), null, "the bytes by hash");
      checkEqual(await readAll(stranger, mine.blob), null, "the bytes by number");
      check(!(await stranger.dropUpload(mine.id)), "a stranger drops nothing");
      const theirs = await upload(stranger, bytes, { id: mine.id });
      check(theirs.blob !== mine.blob, "each has bytes of its own");
      check(await stranger.dropUpload(theirs.id), "and drops its own");
      checkEqual(await readAll(s.store, mine.blob), bytes, "the bytes of the first");
      checkEqual((await stranger.fileUsage()).bytes, 0, "what the stranger's files come to");
    },
  },
  {
    name: "an upload that is not sent expires, and its bytes are collected",
    async run(s) {
      const kept = await upload(s.store, freshBytes(5));
      const brief = await upload(s.store, freshBytes(pieceBytes + 5), { unsentMs: 20 });
      const shared = await upload(s.store, freshBytes(6), { unsentMs: 20 });
      const bytes = await readAll(s.store, shared.blob);
      const again = await upload(s.store, bytes ?? new Uint8Array(0));
      const stalled = uniqueId();
      await s.store.beginUpload({ id: stalled, stalledMs: 20 });
      await s.store.writePiece({ id: stalled, n: 0, data: freshBytes(9), stalledMs: 20, ownerBytes: plenty });
      await s.advance(60);
      checkEqual(await s.store.findUpload(brief.id), null, "an upload that has expired");
      await collectAll(s);
      checkEqual(await readAll(s.store, brief.blob), null, "its bytes");
      checkEqual(await s.store.findBlob(brief.hash), null, "its hash");
      checkEqual(await readAll(s.store, shared.blob), bytes, "bytes that another upload has");
      checkEqual((await s.store.findUpload(again.id))?.blob, shared.blob, "the other upload");
      check((await s.store.findUpload(kept.id)) !== null, "one that has not expired is there");
      checkEqual((await s.store.fileUsage()).bytes, 5 + 6, "what the owner's files come to");
      await refused(
        s.store.writePiece({ id: stalled, n: 1, data: freshBytes(1), stalledMs: 20, ownerBytes: plenty }),
        "invalid_request",
        "a piece of an upload that stood still",
      );
    },
  },
  {
    name: "addresses are signed with the secret that was proposed first, of each owner its own",
    async run(s) {
      checkEqual(await s.store.fileSecret(), null, "before one was proposed");
      checkEqual(await s.store.fileSecret("one"), "one", "the first");
      checkEqual(await s.otherStore.fileSecret("two"), "one", "a second proposal");
      checkEqual(await s.otherStore.fileSecret(), "one", "without a proposal");
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      checkEqual(await stranger.fileSecret("three"), "three", "another owner's");
    },
  },
  {
    name: "a derived form is kept with its bytes, the first one, and goes with them",
    async run(s) {
      const bytes = freshBytes(1_000);
      const { id, blob } = await upload(s.store, bytes);
      const data = freshBytes(300);
      const save = (store: LogStore, given: Uint8Array, ownerBytes = plenty) =>
        store.saveDerived({ blob, variant: "thumbnail", data: given, ownerBytes });
      const find = (store: LogStore) => store.findDerived({ blob, variant: "thumbnail" });
      checkEqual(await find(s.store), null, "before one was saved");
      await refused(save(s.store, data, 1_299), "limit_exceeded", "a form beyond the quota");
      await save(s.store, data, 1_300);
      await save(s.otherStore, freshBytes(7));
      checkEqual(await find(s.otherStore), data, "the first one");
      checkEqual(await s.store.findDerived({ blob, variant: "text" }), null, "another form");
      await s.store.saveDerived({ blob, variant: "text", data: new Uint8Array(0), ownerBytes: plenty });
      checkEqual(await s.store.findDerived({ blob, variant: "text" }), new Uint8Array(0), "an empty form");
      checkEqual((await s.store.fileUsage()).bytes, 1_300, "what the owner's files come to");
      const stranger = s.root.forOwner(uniqueId());
      checkEqual(await find(stranger), null, "what another owner finds");
      await refused(save(stranger, data), "invalid_request", "a form of another's bytes");
      await refused(
        save(s.store, freshBytes(derivedBytes + 1)),
        "invalid_request",
        "a form that is too large",
      );
      await s.store.dropUpload(id);
      checkEqual(await find(s.store), null, "after its bytes are gone");
      await refused(save(s.store, data), "invalid_request", "a form of bytes that are gone");
      checkEqual((await s.store.fileUsage()).bytes, 0, "what is left");
    },
  },
];
