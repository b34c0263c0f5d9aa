import { createHash } from "node:crypto";
import type { SentPart, UploadInfo } from "@parley/wire";
import { fileOf } from "../../test/kill/verify.js";
import { call, orUnknown, type Place, refuseFailure } from "./call.js";
import { lookAgain } from "./http-log.js";
import type { Nodes } from "./nodes.js";
import { isRefusedWith, stuckMs, untilAnswered } from "./until-answered.js";

/** A client's files: uploads that are retried until one is answered, and their bytes. */
export class Uploader {
  readonly #nodes: Nodes;
  readonly #prefix: string;
  readonly #onAcknowledged: () => void;

  constructor(nodes: Nodes, prefix: string, onAcknowledged: () => void) {
    this.#nodes = nodes;
    this.#prefix = prefix;
    this.#onAcknowledged = onAcknowledged;
  }

  /** Uploads a file of `size` bytes; the same name is the same bytes. An upload that was cut off is left behind. */
  async upload(name: string, size: number): Promise<{ readonly info: UploadInfo; readonly part: SentPart }> {
    const bytes = bytesOf(`${this.#prefix}${name}`, size);
    const info = await untilAnswered(this.#nodes, `upload ${name}`, ({ url, patienceMs = 0 }) =>
      orUnknown(async () => {
        const response = await fetch(`${url}/files?name=${name}`, {
          method: "POST",
          body: bytes,
          signal: AbortSignal.timeout(patienceMs),
        });
        await refuseFailure(response);
        return (await response.json()) as UploadInfo;
      }),
    );
    if (info.hash !== hashOf(bytes) || info.size !== size) throw new Error(`${name} was stored as others`);
    this.#onAcknowledged();
    return { info, part: { type: "file", uploadId: info.id } };
  }

  /** Forks a whole conversation. The same id again is the same fork. */
  async fork(conversationId: string, id: string): Promise<void> {
    const place = { params: { id: conversationId } };
    await untilAnswered(this.#nodes, `fork of ${conversationId}`, async (at) => {
      const { latestSeq: atSeq } = await call(at, "GET /conversations/:id", place);
      return call(at, "POST /conversations/:id/fork", { ...place, body: { atSeq, id } });
    });
    this.#onAcknowledged();
  }

  /** Rejects unless a conversation has `count` files and all of them can be read. */
  async expectFiles(id: string, count: number): Promise<void> {
    const { chunks } = await untilAnswered(this.#nodes, `history of ${id}`, (place) =>
      call(place, "GET /conversations/:id", { params: { id } }),
    );
    const files = chunks.flatMap(({ seq, chunk }) => {
      const file = fileOf(chunk);
      return file === undefined ? [] : [{ seq, hash: file.hash }];
    });
    for (const { seq, hash } of files) {
      const read = await untilAnswered(this.#nodes, `file ${seq}`, (place) => readFileHash(place, id, seq));
      if (read !== hash) throw new Error(`the file ${seq} of the fork ${id} is not what it was`);
    }
    if (files.length !== count) throw new Error(`the fork ${id} has ${files.length} files, not ${count}`);
  }

  /** Deletes a conversation. */
  async removeConversation(id: string): Promise<void> {
    try {
      await untilAnswered(this.#nodes, `removal of ${id}`, (place) =>
        call(place, "DELETE /conversations/:id", { params: { id } }),
      );
    } catch (error) {
      // Done by an attempt that was not answered.
      if (!isRefusedWith(error, "conversation_not_found")) throw error;
    }
    this.#onAcknowledged();
  }

  /** Resolves when the store does not have the file any more. */
  async untilGone(hash: string): Promise<void> {
    const limitAt = performance.now() + stuckMs;
    while (await this.#nodes.ask((node) => node.hasFile(hash))) {
      if (performance.now() > limitAt) throw new Error(`the file ${hash} is never collected`);
      await lookAgain();
    }
  }
}

/** Reads the file of a message; returns its hash, or undefined if there is none. */
export async function readFileHash(
  { url, patienceMs = stuckMs }: Place,
  conversationId: string,
  seq: number,
): Promise<string | undefined> {
  return orUnknown(async () => {
    const response = await fetch(`${url}/conversations/${conversationId}/files/${seq}`, {
      signal: AbortSignal.timeout(patienceMs),
    });
    if (response.status === 404) return undefined;
    await refuseFailure(response);
    return hashOf(new Uint8Array(await response.arrayBuffer()));
  });
}

function bytesOf(name: string, size: number): Uint8Array<ArrayBuffer> {
  const block = createHash("sha256").update(name).digest();
  return Uint8Array.from({ length: size }, (_, index) => (block[index % 32] ?? 0) ^ ((index >> 5) & 255));
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
