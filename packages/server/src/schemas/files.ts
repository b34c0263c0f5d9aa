import { z } from "@hono/zod-openapi";
import type {
  DropUploadResponse,
  FileAddress,
  MessageFileParams,
  ReadFileQuery,
  SignedFileParams,
  SignFileQuery,
  UploadInfo,
  UploadParams,
  UploadQuery,
} from "@parley/wire";
import { agree } from "./agree.js";
import { count, id, instant, limitInQuery, seqInQuery } from "./scalars.js";

export const uploadQuery = agree<UploadQuery>()(z.object({ name: z.string().max(4_000).optional() }));

export const uploadInfo = agree<UploadInfo>()(
  z
    .object({
      id,
      hash: z.string(),
      size: count,
      mediaType: z.string(),
      name: z.string(),
      expiresAt: instant,
    })
    .openapi("UploadInfo"),
);

export const readFileQuery = agree<ReadFileQuery>()(
  z.object({
    variant: z
      .enum(["thumbnail", "text"])
      .optional()
      .openapi({ description: "A form of the file: a small picture of an image, the text of a document" }),
  }),
);

export const uploadParams = agree<UploadParams>()(z.object({ id }));
export const messageFileParams = agree<MessageFileParams>()(z.object({ id, seq: seqInQuery }));
export const signedFileParams = agree<SignedFileParams>()(
  z.object({ token: z.string().regex(/^[A-Za-z0-9_.-]{1,2000}$/, "not a signed address") }),
);

export const dropUploadResponse = agree<DropUploadResponse>()(z.object({ id, removed: z.boolean() }));

export const signFileQuery = agree<SignFileQuery>()(z.object({ forMs: limitInQuery.optional() }));

export const fileAddress = agree<FileAddress>()(
  z.object({ path: z.string(), expiresAt: instant }).openapi("FileAddress"),
);

/** The bytes of a file, for the published contract. */
export const fileBytes = z
  .string()
  .openapi({ type: "string", format: "binary" }) as unknown as z.ZodType<Uint8Array>;
