import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { ParleyError } from "@parley/core/errors";
import { RequestRefusal } from "./request-refusal.js";

/** Bytes of a form beside its file: boundaries, headers and small fields. */
export const formBytes = 64 * 1024;

/** A file of a form on its way in. */
export interface FormFile {
  readonly name: string;
  readonly bytes: AsyncGenerator<Uint8Array>;
}

/** Returns true for the type of a form that has files. */
export function isForm(contentType: string): boolean {
  return /^multipart\/form-data\b/i.test(contentType);
}

/**
 * Finds the file of a form as it arrives: its first one, which has to be the only one. Other fields are skipped.
 * Errors of the form surface while its bytes are read.
 */
export async function readFormFile(
  contentType: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<FormFile> {
  const form = open(contentType);
  const found = new Promise<{ name: string; stream: Readable } | undefined>((resolve) => {
    form.on("file", (_field, stream, name) => resolve({ name, stream }));
    form.on("close", () => resolve(undefined));
    form.on("finish", () => resolve(undefined));
  });
  let tooMany = false;
  form.on("filesLimit", () => {
    tooMany = true;
  });
  const read = pipeline(Readable.from(pieces), form);
  // It is awaited below, once the file has been read.
  read.catch(() => undefined);
  const file = await Promise.race([found, read.then(() => found)]).catch(refuse);
  if (file === undefined) {
    await read.catch(refuse);
    throw new RequestRefusal("invalid_request", "The form has no file: send it as a field with a file name");
  }
  const { name, stream } = file;
  read.catch((error: Error) => stream.destroy(error));
  return { name, bytes: bytesOf() };

  async function* bytesOf(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of stream) yield piece as Uint8Array;
      await read;
    } catch (error) {
      refuse(error);
    }
    if (tooMany)
      throw new RequestRefusal("invalid_request", "The form has several files: send one at a time");
  }
}

function open(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { files: 1, fields: 20, fieldSize: 4_000, parts: 30, headerPairs: 50 },
    });
  } catch (error) {
    return refuse(error);
  }
}

/**
 * Rethrows the refusal of a body that exceeds a bound or breaks off; any other error means a form that cannot be read.
 */
function refuse(error: unknown): never {
  if (error instanceof ParleyError) throw error;
  const why = error instanceof Error ? error.message : String(error);
  throw new RequestRefusal("invalid_request", `The form cannot be read: ${why}`);
}
