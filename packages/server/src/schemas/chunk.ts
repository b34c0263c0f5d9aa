import { z } from "@hono/zod-openapi";
import type { Chunk, FileReference, HistoryResponse, InlineFile, StoredChunk } from "@parley/wire";
import { agree } from "./agree.js";
import { inputEntry } from "./input-entry.js";
import { outputInvalidEntry } from "./output.js";
import { count, cursor, id, instant, openErrorCode, providerMetadata, role, stepId } from "./scalars.js";

const own = { providerMetadata: providerMetadata.optional() };

/** A source that an answer is based on. */
export const sourceChunk = z.object({
  type: z.literal("source"),
  id: z.string().optional(),
  title: z.string().optional(),
  url: z.string().optional(),
  ...own,
});

export const fileReference = agree<FileReference>()(
  z
    .object({
      seq: count.optional(),
      part: count.optional(),
      name: z.string().optional(),
      mediaType: z.string(),
      size: count,
      hash: z.string(),
      width: count.optional(),
      height: count.optional(),
    })
    .openapi("FileReference"),
);

const inlineFile = agree<InlineFile>()(
  z.object({
    mediaType: z.string(),
    filename: z.string().optional(),
    data: z.string().optional(),
    url: z.string().optional(),
  }),
);

const chunk = agree<Chunk>()(
  z
    .discriminatedUnion("type", [
      z.object({
        type: z.literal("text"),
        text: z.string(),
        file: fileReference.optional(),
        inline: inlineFile.optional(),
        ...own,
      }),
      z.object({
        type: z.literal("thinking"),
        text: z.string(),
        durationMs: z.number().optional(),
        ...own,
      }),
      z.object({
        type: z.literal("tool-call"),
        toolCallId: z.string(),
        toolName: z.string(),
        input: z.unknown(),
        argumentsText: z.string().optional(),
        stepId: stepId.optional(),
        ...own,
      }),
      z.object({
        type: z.literal("tool-result"),
        toolCallId: z.string(),
        toolName: z.string(),
        content: z.string(),
        isError: z.boolean(),
        stepId: stepId.optional(),
        durationMs: z.number().optional(),
        interrupted: z.boolean().optional(),
        ...own,
      }),
      z.object({ type: z.literal("error"), message: z.string(), code: openErrorCode.optional(), ...own }),
      z.object({
        type: z.literal("system"),
        text: z.string(),
        covers: z.object({ firstSeq: count, lastSeq: count }).optional(),
        input: inputEntry.optional(),
        output: outputInvalidEntry.optional(),
        ...own,
      }),
      sourceChunk,
      z.object({ type: z.literal("data"), data: z.unknown(), ...own }),
    ])
    .openapi("Chunk"),
);

export const storedChunkShape = {
  seq: count,
  role,
  chunk,
  messageId: id.optional(),
  turnId: id.optional(),
  stepId: stepId.optional(),
  createdAt: instant.optional(),
  partIndex: count.optional(),
  partCount: count.optional(),
};

export const storedChunk = agree<StoredChunk>()(z.object(storedChunkShape).openapi("StoredChunk"));

export const historyResponse = agree<HistoryResponse>()(
  z.object({ chunks: z.array(storedChunk), latestSeq: count, cursor: cursor.optional() }),
);
