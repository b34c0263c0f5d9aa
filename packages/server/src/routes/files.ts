import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { ParleyError } from "@parley/core/errors";
import type { BytesHash, FilePlace, OpenedFile, OwnerRuntime } from "@parley/core/runtime";
import type { FileAddress, SignFileQuery } from "@parley/wire";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { countStranger } from "../auth/admit-request.js";
import type { Caller } from "../auth/caller.js";
import { type ByteRange, readRange } from "../http/byte-range.js";
import { breakOffError } from "../http/connections.js";
import { endpoint } from "../http/endpoint.js";
import { etagOf, fileHeaders } from "../http/file-headers.js";
import { formBytes, isForm, readFormFile } from "../http/form-file.js";
import { bodyPieces } from "../http/read-body.js";
import { RequestRefusal } from "../http/request-refusal.js";
import {
  dropUploadResponse,
  fileAddress,
  fileBytes,
  messageFileParams,
  readFileQuery,
  signedFileParams,
  signFileQuery,
  uploadInfo,
  uploadParams,
  uploadQuery,
} from "../schemas/files.js";
import { streamPieces } from "../stream/stream-pieces.js";

function createSha256(): BytesHash {
  const hash = createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") };
}

/** Yields the body of an upload. It counts as a connection while it is read, and breaks off when its key is revoked. */
async function* uploadedBytes({
  c,
  app,
  caller,
}: {
  readonly c: Context<AppEnv>;
  readonly app: AppContext;
  readonly caller: Caller;
}): AsyncGenerator<Uint8Array> {
  app.connections.checkCapacity(caller);
  let why: ParleyError | undefined;
  const forget = app.connections.add({
    caller,
    close(reason) {
      // A node that shuts down accepts uploads in progress, as long as it can.
      if (reason !== "draining") why = breakOffError(reason);
    },
  });
  try {
    const limit = app.runtime.fileLimits.fileBytes + (isForm(contentTypeOf(c)) ? formBytes : 0);
    for await (const piece of bodyPieces(c, app, limit, "fileBytes")) {
      if (why !== undefined) throw why;
      yield piece;
    }
  } finally {
    forget();
  }
}

function contentTypeOf(c: Context<AppEnv>): string {
  return c.req.header("content-type") ?? "";
}

/** Answers with a file or with the requested part of it, at the reader's own pace. */
async function sendFile(
  request: { readonly c: Context<AppEnv>; readonly app: AppContext; readonly caller: Caller | undefined },
  file: OpenedFile,
): Promise<Response> {
  const { c } = request;
  const headers = fileHeaders(file);
  if (matches(c.req.header("if-none-match"), file.hash)) return c.body(null, 304, headers);
  const ifRange = c.req.header("if-range");
  const isSame = ifRange === undefined || ifRange === etagOf(file.hash);
  const range = isSame ? readRange(c.req.header("range"), file.size) : "whole";
  if (range === "none") {
    throw new RequestRefusal("invalid_request", `The file has ${file.size} bytes`, {
      status: 416,
      headers: { "content-range": `bytes */${file.size}` },
    });
  }
  const { start, end }: ByteRange = range === "whole" ? { start: 0, end: file.size } : range;
  const length = { "content-length": String(end - start) };
  const partial = range === "whole" ? {} : { "content-range": `bytes ${start}-${end - 1}/${file.size}` };
  return streamPieces(
    request,
    file.read(start, end),
    { ...headers, ...length, ...partial },
    range === "whole" ? 200 : 206,
  );
}

/** Returns true if the reader has these bytes already. */
function matches(header: string | undefined, hash: string): boolean {
  const known = header?.split(",").map((each) => each.trim().replace(/^W\//, ""));
  return known?.some((each) => each === "*" || each === etagOf(hash)) ?? false;
}

async function signedAddress(me: OwnerRuntime, place: FilePlace, query: SignFileQuery): Promise<FileAddress> {
  const { token, expiresAt } = await me.files.sign(place, query);
  return { path: `/signed-files/${token}`, expiresAt };
}

/** The common part of the routes that answer with a file. */
const sentFile = {
  headers: z.object({
    Range: z.string().optional().openapi({ description: "One range of bytes; answered with 206" }),
  }),
  query: readFileQuery,
  response: fileBytes,
  format: "bytes",
  statuses: [206],
} as const;

export const fileEndpoints = [
  endpoint("POST /files", {
    operationId: "uploadFile",
    summary:
      "Upload a file: the body, as it is, or the file of a form. It is kept for a day, and longer once a message refers to it",
    access: "write",
    query: uploadQuery,
    takesBytes: true,
    status: 201,
    response: uploadInfo,
    async handle({ me, caller, query, c, app }) {
      const sent = uploadedBytes({ c, app, caller });
      const type = contentTypeOf(c);
      const { name, bytes } = isForm(type) ? await readFormFile(type, sent) : { name: "", bytes: sent };
      const info = await me.files.upload({ name: query.name ?? name, bytes, hash: createSha256() });
      return c.json(info, 201, { "cache-control": "no-store" });
    },
  }),
  endpoint("GET /files/:id", {
    operationId: "readUpload",
    refusals: [416],
    ...sentFile,
    summary: "Read an upload by its id, until it expires",
    access: "read",
    params: uploadParams,
    handle: async ({ me, caller, params: { id }, query, c, app }) =>
      sendFile({ c, app, caller }, await me.files.open({ uploadId: id }, query)),
  }),
  endpoint("DELETE /files/:id", {
    operationId: "deleteUpload",
    summary: "Drop an upload. Messages that refer to it keep the file. Idempotent",
    access: "write",
    params: uploadParams,
    response: dropUploadResponse,
    handle: async ({ me, params: { id } }) => ({ id, removed: await me.files.drop(id) }),
  }),
  endpoint("GET /files/:id/address", {
    operationId: "signUpload",
    summary: "Make an address of an upload that needs no key, for a short time",
    access: "read",
    params: uploadParams,
    query: signFileQuery,
    response: fileAddress,
    handle: ({ me, params: { id }, query }) => signedAddress(me, { uploadId: id }, query),
  }),
  endpoint("GET /conversations/:id/files/:seq", {
    operationId: "readFile",
    refusals: [416],
    ...sentFile,
    summary: "Read the file of a message, by the seq of its chunk",
    access: "read",
    params: messageFileParams,
    handle: async ({ me, caller, params: { id, seq }, query, c, app }) =>
      sendFile({ c, app, caller }, await me.files.open({ conversationId: id, seq }, query)),
  }),
  endpoint("GET /conversations/:id/files/:seq/address", {
    operationId: "signFile",
    summary: "Make an address of the file of a message that needs no key, for a short time",
    access: "read",
    params: messageFileParams,
    query: signFileQuery,
    response: fileAddress,
    handle: ({ me, params: { id, seq }, query }) => signedAddress(me, { conversationId: id, seq }, query),
  }),
  endpoint("GET /signed-files/:token", {
    operationId: "readSignedFile",
    refusals: [416],
    ...sentFile,
    summary: "Read a file by a signed address, until it expires. Needs no key",
    access: "public",
    params: signedFileParams,
    async handle({ params: { token }, query, c, app }) {
      countStranger(c, app);
      return sendFile({ c, app, caller: undefined }, await app.runtime.openSignedFile(token, query));
    },
  }),
];
