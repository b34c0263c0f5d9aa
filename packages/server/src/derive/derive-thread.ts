import { parentPort } from "node:worker_threads";
import type { FileVariant } from "@parley/wire";
import type { DeriveLimits } from "./derive-limits.js";
import { readDocumentText } from "./document-text.js";
import { makeThumbnail } from "./thumbnail.js";

/** A file to derive a form of. */
export interface DeriveRequest {
  readonly variant: FileVariant;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly limits: DeriveLimits;
}

/** The form; undefined if there is none. */
export interface DeriveAnswer {
  readonly data: Uint8Array | undefined;
}

const port = parentPort;
port?.on("message", async ({ variant, mediaType, bytes, limits }: DeriveRequest) => {
  const derive = variant === "thumbnail" ? makeThumbnail : readDocumentText;
  // Bytes that make a decoder fail have no such form.
  const data = await derive(mediaType, bytes, limits).catch(() => undefined);
  port.postMessage({ data } satisfies DeriveAnswer);
});
