/** Number of bytes at the beginning of a file by which its type is recognized. */
export const sniffedBytes = 4_096;

const unknownType = "application/octet-stream";

/** Signatures: the bytes at an offset that files of a type have, as Latin-1 text. */
const signatures: readonly (readonly [type: string, offset: number, bytes: string])[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/bmp", 0, "BM"],
  ["image/tiff", 0, "II*\0"],
  ["image/tiff", 0, "MM\0*"],
  ["application/pdf", 0, "%PDF-"],
  ["application/gzip", 0, "\x1f\x8b"],
  ["audio/mpeg", 0, "ID3"],
  ["audio/flac", 0, "fLaC"],
  ["audio/ogg", 0, "OggS"],
  ["video/webm", 0, "\x1a\x45\xdf\xa3"],
];

/** Types of the container that begins with a RIFF header, by its fourth word. */
const riffTypes: Readonly<Record<string, string>> = { WEBP: "image/webp", WAVE: "audio/wav" };

/** Types of ISO media files, by their brand. */
const brandTypes: Readonly<Record<string, string>> = {
  avif: "image/avif",
  avis: "image/avif",
  heic: "image/heic",
  heix: "image/heic",
  mif1: "image/heif",
  "M4A ": "audio/mp4",
  "qt  ": "video/quicktime",
};

const office = "application/vnd.openxmlformats-officedocument.";

/** Formats that are ZIP archives: inside, they are no more dangerous than any archive, so the name decides. */
const archiveTypes: Readonly<Record<string, string>> = {
  docx: `${office}wordprocessingml.document`,
  xlsx: `${office}spreadsheetml.sheet`,
  pptx: `${office}presentationml.presentation`,
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odp: "application/vnd.oasis.opendocument.presentation",
  epub: "application/epub+zip",
};

/** Formats that are text. */
const textTypes: Readonly<Record<string, string>> = {
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  html: "text/html",
  htm: "text/html",
  xhtml: "application/xhtml+xml",
  xml: "application/xml",
  svg: "image/svg+xml",
};

/**
 * Recognizes the type of a file by its first bytes. The sender's declared type is ignored; the name only chooses
 * among formats that share their bytes, text and ZIP archives. Text that a browser could interpret as a page or a
 * drawing gets that type, whatever its name is.
 */
export function sniffMediaType(head: Uint8Array, name: string): string {
  if (head.byteLength === 0) return textTypes[extensionOf(name)] ?? "text/plain";
  const start = latin1(head.subarray(0, 64));
  for (const [type, offset, bytes] of signatures) {
    // Two letters prove little: text may begin with them.
    if (start.startsWith(bytes, offset) && (bytes.length > 2 || !isText(head))) return type;
  }
  if (start.startsWith("RIFF")) return riffTypes[start.slice(8, 12)] ?? unknownType;
  if (start.startsWith("ftyp", 4)) return brandTypes[start.slice(8, 12)] ?? "video/mp4";
  if (start.startsWith("PK\x03\x04") || start.startsWith("PK\x05\x06")) {
    return archiveTypes[extensionOf(name)] ?? "application/zip";
  }
  return isText(head) ? typeOfText(head, name) : unknownType;
}

function typeOfText(head: Uint8Array, name: string): string {
  const text = new TextDecoder().decode(head).toLowerCase();
  if (/<svg[\s>:/]/.test(text)) return "image/svg+xml";
  if (/<(?:!doctype\s+html|html|head|body|script|iframe|object|embed|style)[\s>/]/.test(text))
    return "text/html";
  if (text.trimStart().startsWith("<?xml")) return "application/xml";
  return textTypes[extensionOf(name)] ?? "text/plain";
}

/** Returns true for UTF-8 without the control characters that no text has. The last character may be cut off. */
function isText(head: Uint8Array): boolean {
  for (const byte of head) {
    const isControl = byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d;
    if ((isControl && byte !== 0x1b) || byte === 0x7f) return false;
  }
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function extensionOf(name: string): string {
  return /\.([a-z0-9]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
}
