import { derivedBytes } from "@parley/core/messages";
import { Unzip, UnzipInflate } from "fflate";
import type { DeriveLimits } from "./derive-limits.js";

const wordDocument = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

type ReadText = (bytes: Uint8Array, limits: DeriveLimits) => Promise<string | undefined>;

const readers: Readonly<Record<string, ReadText>> = {
  "application/pdf": readPdf,
  [wordDocument]: readWordDocument,
};

/** Types of documents whose text is read. */
export const textTypes: readonly string[] = Object.keys(readers);

/** Reads the text of a document; undefined if it has none, as a scanned one. A long text is cut, with a note. */
export async function readDocumentText(
  mediaType: string,
  bytes: Uint8Array,
  limits: DeriveLimits,
): Promise<Uint8Array | undefined> {
  const text = (await readers[mediaType]?.(bytes, limits))?.trim() ?? "";
  if (text === "") return undefined;
  const encoded = new TextEncoder().encode(text);
  return encoded.byteLength <= derivedBytes ? encoded : cut(encoded);
}

const cutMark = "\n\n[The text is cut here]\n";

/** Cuts a text between two characters, so that the mark after it still fits. */
function cut(encoded: Uint8Array): Uint8Array {
  let end = derivedBytes - cutMark.length;
  // The byte after the cut must not continue a character.
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const result = new Uint8Array(end + cutMark.length);
  result.set(encoded.subarray(0, end));
  result.set(new TextEncoder().encode(cutMark), end);
  return result;
}

async function readPdf(bytes: Uint8Array, { pages: mostPages }: DeriveLimits): Promise<string | undefined> {
  const { getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
  const texts: string[] = [];
  let length = 0;
  for (let number = 1; number <= Math.min(document.numPages, mostPages); number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    page.cleanup();
    if (text.trim() !== "")
      texts.push(document.numPages > 1 ? `[Page ${number}]\n${text.trim()}` : text.trim());
    length += text.length;
    if (length > derivedBytes) break;
  }
  return texts.join("\n\n");
}

async function readWordDocument(bytes: Uint8Array, limits: DeriveLimits): Promise<string | undefined> {
  if (!unpacksWithin(bytes, limits.unpackedBytes)) return undefined;
  const { default: mammoth } = await import("mammoth");
  return (await mammoth.extractRawText({ buffer: Buffer.from(bytes) })).value;
}

const unpackStep = 16 * 1024;

/**
 * Returns true if all entries of an archive together unpack to at most `most` bytes. They are unpacked for it, bit by
 * bit and without being kept: the sizes that an archive declares may be wrong.
 */
export function unpacksWithin(archive: Uint8Array, most: number): boolean {
  let unpacked = 0;
  const unzip = new Unzip((entry) => {
    entry.ondata = (error, data) => {
      if (error !== null) throw error;
      unpacked += data.byteLength;
      if (unpacked > most) entry.terminate();
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  for (let start = 0; start < archive.byteLength && unpacked <= most; start += unpackStep) {
    const end = start + unpackStep;
    unzip.push(archive.subarray(start, end), end >= archive.byteLength);
  }
  return unpacked <= most;
}
