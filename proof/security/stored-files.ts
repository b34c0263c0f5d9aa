import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Runtime } from "@parley/core/runtime";
import type { FileAddress, UploadInfo } from "@parley/wire";
import type { Area } from "./ledger.js";
import { codeOf, type RawAnswer, type RawCall, shapeOf } from "./raw-call.js";
import type { Secrets } from "./secrets.js";
import { openTarget, type Target } from "./target.js";

const victim = "ann";
const conversationId = "ann-files";
const unknownUpload = `up_${"0".repeat(32)}`;

/** The victim's data: a file in a message, another one that was not sent, and a key. */
interface Files {
  readonly key: string;
  readonly sent: UploadInfo;
  readonly unsent: UploadInfo;
  readonly content: string;
}

/**
 * Attacks on files: those of another owner by every route and by their hashes, without a key, with addresses that were
 * changed, put together or have expired; and files that a browser would run. With `weak`, every key opens the victim's
 * files, and signatures are not checked.
 */
export async function attackStoredFiles(area: Area, secrets: Secrets, weak: boolean): Promise<void> {
  const target = await openTarget(weak ? { weaken: withoutOwners } : {});
  try {
    const files = await store(target, secrets);
    const thief = await target.key("bob", ["read", "write"]);
    await attackByRoute(target, files, { thief, area, secrets });
    await attackByHash(target, files, { thief, area, secrets });
    await attackAddresses(target, files, { thief, area, secrets });
    if (weak) return;
    await attackBrowsers(target, area);
    await attackWithNarrowKeys(target, files, area);
    await attackWithBodies(target, files.key, area);
    area.searched("the log", secrets.findIn(target.logs.join(""), ["a file"]));
  } finally {
    await target.close();
  }
}

/** Creates a runtime that treats every caller as the victim, and accepts every signed address. */
function withoutOwners(runtime: Runtime): Runtime {
  return {
    ...runtime,
    forOwner: () => runtime.forOwner(victim),
    openSignedFile: () => runtime.forOwner(victim).files.open({ conversationId, seq: 2 }),
  };
}

interface Attack {
  readonly thief: string;
  readonly area: Area;
  readonly secrets: Secrets;
}

function uploadCall(key: string, body: string | Uint8Array, name: string, headers = {}): RawCall {
  return { method: "POST", path: `/files?name=${encodeURIComponent(name)}`, key, body, headers };
}

async function upload(target: Target, key: string, body: string | Uint8Array, name = "a.txt") {
  const answer = await target.call(uploadCall(key, body, name));
  if (answer.status !== 201) throw new Error(`no upload: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text) as UploadInfo;
}

function chatCall(key: string, conversation: string, part: object): RawCall {
  return {
    method: "POST",
    path: "/chat",
    key,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ conversationId: conversation, message: "Look", parts: [part] }),
  };
}

async function store(target: Target, secrets: Secrets): Promise<Files> {
  const key = await target.key(victim);
  const content = secrets.make("a file");
  const sent = await upload(target, key, content);
  const answer = await target.call(chatCall(key, conversationId, { type: "file", uploadId: sent.id }));
  if (answer.status !== 200) throw new Error(`not sent: ${answer.status} ${answer.text}`);
  return { key, sent, content, unsent: await upload(target, key, secrets.make("a file"), "b.txt") };
}

/** Checks that another owner's files are as unknown as ones that do not exist, to the byte. */
async function attackByRoute(
  target: Target,
  { key, sent, unsent, content }: Files,
  { thief, area, secrets }: Attack,
): Promise<void> {
  const own = await target.call({ path: `/conversations/${conversationId}/files/2`, key });
  area.control("the owner reads the file of a message", own.text === content, own.text);
  const places = (id: string, conversation: string) => [
    { path: `/files/${id}` },
    { path: `/files/${id}/address` },
    { path: `/files/${id}`, headers: { range: "bytes=0-3" } },
    { path: `/files/${id}`, headers: { "if-none-match": `"${sent.hash}"` } },
    { path: `/files/${id}`, method: "HEAD" },
    { path: `/conversations/${conversation}/files/2` },
    { path: `/conversations/${conversation}/files/2/address` },
    { path: `/conversations/${conversation}/files/2`, headers: { "if-none-match": `"${sent.hash}"` } },
    { path: `/files/${id}`, method: "DELETE" },
    chatCall(thief, `bob-${crypto.randomUUID()}`, { type: "file", uploadId: id }),
    chatCall(thief, `bob-${crypto.randomUUID()}`, { type: "file", conversationId: conversation, seq: 2 }),
  ];
  for (const { id } of [sent, unsent]) {
    const theirs = places(id, conversationId);
    const unowned = places(unknownUpload, "no-conversation");
    for (const [index, call] of theirs.entries()) {
      const what = `${call.method ?? "GET"} ${call.path.replace(id, ":id")}`;
      const answer = await target.call({ ...call, key: thief });
      area.searched(
        `the answer to ${what}`,
        secrets.findIn(`${JSON.stringify(answer.headers)}\n${answer.text}`),
      );
      const unknown = await target.call({ ...(unowned[index] ?? call), key: thief });
      const isSame =
        shapeOf(answer, id).replaceAll(conversationId, "<c>") ===
        shapeOf(unknown, unknownUpload).replaceAll("no-conversation", "<c>");
      area.attempt(`${what} of another owner`, isSame, `${answer.status} ${answer.text}`);
      const nameless = await target.call(call.key === undefined ? call : { ...call, key: undefined });
      area.attempt(`${what} without a key`, nameless.status === 401, `${nameless.status}`);
    }
  }
  const still = await target.call({ path: `/files/${unsent.id}`, key });
  area.control("the upload is still there", still.status === 200, `${still.status}`);
}

/**
 * Checks that a hash that was learned elsewhere opens nothing, and does not even reveal if another owner has the
 * bytes.
 */
async function attackByHash(target: Target, files: Files, { thief, area, secrets }: Attack): Promise<void> {
  const { hash } = files.sent;
  const unowned = createHash("sha256").update("no owner has this").digest("hex");
  const importing = (named: string): RawCall => ({
    method: "POST",
    path: "/import",
    key: thief,
    headers: { "content-type": "application/x-ndjson" },
    body: exportOf(named),
  });
  const pairs: readonly [string, (named: string) => RawCall][] = [
    ["GET /files/<hash>", (named) => ({ path: `/files/${named}`, key: thief })],
    ["POST /chat with a hash", (named) => chatCall(thief, "bob-h", { type: "file", hash: named, size: 40 })],
    [
      "POST /chat with a hash as its upload",
      (named) => chatCall(thief, "bob-h", { type: "file", uploadId: named }),
    ],
    ["POST /import with a hash", importing],
  ];
  for (const [what, make] of pairs) {
    const answer = await target.call(make(hash));
    area.searched(`the answer to ${what}`, secrets.findIn(answer.text));
    const unknown = await target.call(make(unowned));
    const isSame = shapeOf(answer, hash) === shapeOf(unknown, unowned);
    area.attempt(what, answer.status >= 400 && isSame, `${answer.status} ${answer.text}`);
  }
}

/** Returns the lines of a conversation that refers to bytes by their hash alone. */
function exportOf(hash: string): string {
  const file = { seq: 1, name: "a.txt", mediaType: "text/plain", size: 40, hash };
  const chunk = { type: "text", text: "[a.txt, text/plain, 40 bytes]", file };
  const conversation = { id: "bob-import", createdAt: 1, lastActivityAt: 2, title: "t", status: "idle" };
  const place = {
    seq: 1,
    role: "user",
    messageId: `m-${hash.slice(0, 8)}`,
    createdAt: 1,
    partIndex: 0,
    partCount: 1,
  };
  return [
    { type: "conversation", format: "parley.conversation.1", conversation, lastSeq: 1 },
    { type: "chunk", ...place, chunk },
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");
}

/** Attacks signed addresses: they are bound to one file and one owner, for a time. */
async function attackAddresses(target: Target, files: Files, { thief, area }: Attack): Promise<void> {
  const sign = async (path: string, key = files.key) =>
    JSON.parse((await target.call({ path, key })).text) as FileAddress;
  const place = `/conversations/${conversationId}/files/2/address`;
  const { path } = await sign(place);
  const read = await target.call({ path });
  area.control("a signed address needs no key", read.text === files.content, `${read.status} ${read.text}`);
  const isOpened = ({ status, text }: RawAnswer) => status === 200 && text === files.content;
  const start = path.slice(0, path.lastIndexOf("/") + 1);
  const token = path.slice(start.length);
  const [payload = "", signature = ""] = token.split(".");
  const claim = JSON.parse(Buffer.from(payload, "base64url").toString()) as unknown[];
  const forged = (...values: readonly unknown[]) =>
    `${Buffer.from(JSON.stringify(values)).toString("base64url")}.${signature}`;
  const own = await upload(target, thief, "bob's own");
  const ofThief =
    (await sign(`/files/${own.id}/address`, thief)).path.slice(start.length).split(".")[1] ?? "";
  const expired = await sign(`${place}?forMs=1`);
  await sleep(Math.max(0, expired.expiresAt - Date.now()) + 5);
  const [owner, , id, seq] = claim;
  const tokens: Readonly<Record<string, string>> = {
    "another seq": forged(owner, claim[1], id, 1),
    "a later end": forged(owner, Number(claim[1]) + 3_600, id, seq),
    "an upload of the same owner": forged(owner, claim[1], files.unsent.id),
    "the signature of another owner": `${payload}.${ofThief}`,
    "no signature": payload,
    "an empty signature": `${payload}.`,
    "two signatures": `${token}.${signature}`,
    "a changed signature": `${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
    "an end that has passed": expired.path.slice(start.length),
  };
  for (const [what, given] of Object.entries(tokens)) {
    const answer = await target.call({ path: start + given });
    area.attempt(
      `a signed address with ${what}`,
      !isOpened(answer) && answer.status >= 400,
      `${answer.status}`,
    );
  }
  for (const forMs of ["0", "-1", "99999999999", "NaN"]) {
    const answer = await target.call({ path: `${place}?forMs=${forMs}`, key: files.key });
    area.attempt(`an address for ${forMs} ms`, answer.status === 400, `${answer.status}`);
  }
  const { path: ofUpload } = await sign(`/files/${files.unsent.id}/address`);
  await target.call({ method: "DELETE", path: `/files/${files.unsent.id}`, key: files.key });
  const dropped = await target.call({ path: ofUpload });
  area.attempt("a signed address of a file that was dropped", dropped.status === 404, `${dropped.status}`);
}

const script = "<script>alert(1)</script>";
/** The start of a PNG that claims to be 65,535 pixels wide and high. */
const hugeImage = Buffer.from("89504e470d0a1a0a0000000d494844520000ffff0000ffff0806000000", "hex");
const dangerous: readonly (readonly [what: string, name: string, bytes: string | Uint8Array])[] = [
  ["SVG", "a.svg", `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`],
  ["SVG under another name", "a.png", `<?xml version="1.0"?><svg onload="alert(1)"/>`],
  ["HTML", "a.html", `<!doctype html>${script}`],
  ["HTML under another name", "a.txt", `hello ${script}`],
  ["HTML behind spaces", "a.csv", `${" ".repeat(2_000)}<html><body>${script}`],
  ["HTML in UTF-16", "a.txt", Buffer.from(`\ufeff<html>${script}`, "utf16le")],
  ["XHTML", "a.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml">${script}</html>`],
  ["a GIF that is a script", "a.js", `GIF89a/*${"\0".repeat(10)}*/=1;alert(1)`],
  ["a PNG with a page behind it", "a.html", Buffer.concat([hugeImage, Buffer.from(`<html>${script}`)])],
  ["a PDF with a page before it", "a.pdf", `<html>${script}\n%PDF-1.7`],
  ["JavaScript", "a.js", "alert(1)"],
  ["a module of WebAssembly", "a.wasm", Buffer.from("0061736d01000000", "hex")],
  ["an image of four gigapixels", "a.png", hugeImage],
  ["a ZIP bomb", "a.zip", Buffer.concat([Buffer.from("PK\x03\x04"), gzipSync(Buffer.alloc(20_000_000))])],
  ["a service worker", "sw.js", "self.addEventListener('fetch', () => {})"],
];

/** Names that mean something to a header, a terminal, a path or a reader. */
const names = [
  "a\r\nset-cookie: x=1.txt",
  'a"; filename="b.html',
  "../../etc/passwd",
  "..\\..\\windows\\system.ini",
  "invoice\u202Egnp.exe",
  "\u001b]0;owned\u0007.txt",
  "\u0000.html",
  "a\u2028b.txt",
  "%0d%0aset-cookie:x.txt",
  "x".repeat(3_900),
];

/** Returns true if a browser that opens the file runs nothing of it and loads nothing for it. */
function isHarmless({ headers }: RawAnswer): boolean {
  const type = String(headers["content-type"] ?? "");
  const disposition = headers["content-disposition"] ?? "";
  const policy = String(headers["content-security-policy"] ?? "");
  const isActive = /html|xml|svg|script|css|wasm|pdf/.test(type);
  return (
    headers["x-content-type-options"] === "nosniff" &&
    policy.includes("sandbox") &&
    !/allow-scripts|allow-same-origin/.test(policy) &&
    policy.includes("default-src 'none'") &&
    (disposition.startsWith("attachment;") || (disposition.startsWith("inline;") && !isActive)) &&
    !/[\r\n]/.test(disposition) &&
    headers["set-cookie"] === undefined
  );
}

async function attackBrowsers(target: Target, area: Area): Promise<void> {
  const key = await target.key("carol");
  for (const [what, name, bytes] of dangerous) {
    const answer = await target.call(uploadCall(key, bytes, name, { "content-type": "text/html" }));
    const { id, size } = JSON.parse(answer.text) as UploadInfo;
    area.control(`${what} is stored as it is`, size === Buffer.byteLength(bytes), `${answer.status} ${size}`);
    for (const path of [`/files/${id}`, ...(await addressOf(target, id, key))]) {
      const read = await target.call({ path, key });
      const { "content-type": type, "content-disposition": disposition } = read.headers;
      area.attempt(`${what} as a page`, read.status === 200 && isHarmless(read), `${type} ${disposition}`);
    }
  }
  for (const name of names) {
    const answer = await target.call(uploadCall(key, "text", name));
    const { id, name: kept } = JSON.parse(answer.text) as UploadInfo;
    const read = await target.call({ path: `/files/${id}`, key });
    const isPlain = !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\]/u.test(kept) && [...kept].length <= 200;
    area.attempt(`the name ${JSON.stringify(name.slice(0, 40))}`, isPlain && isHarmless(read), kept);
  }
}

async function addressOf(target: Target, id: string, key: string): Promise<string[]> {
  const { text } = await target.call({ path: `/files/${id}/address`, key });
  return [(JSON.parse(text) as FileAddress).path];
}

async function attackWithNarrowKeys(target: Target, { sent }: Files, area: Area): Promise<void> {
  const reader = await target.key(victim, ["read"]);
  const calls: readonly [string, RawCall][] = [
    ["an upload with a key that only reads", uploadCall(reader, "x", "a.txt")],
    ["a drop with a key that only reads", { method: "DELETE", path: `/files/${sent.id}`, key: reader }],
  ];
  for (const [what, call] of calls) {
    const answer = await target.call(call);
    area.attempt(what, codeOf(answer) === "forbidden", `${answer.status} ${answer.text}`);
  }
}

/** Sends bodies and ranges that are not what they claim to be. */
async function attackWithBodies(target: Target, key: string, area: Area): Promise<void> {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const packed = await target.call(uploadCall(key, bomb, "a.gz", { "content-encoding": "gzip" }));
  const { size } = JSON.parse(packed.text) as Partial<UploadInfo>;
  area.attempt("a body that unpacks to 50 MB", packed.status >= 400 || size === bomb.byteLength, packed.text);
  const form = { "content-type": "multipart/form-data; boundary=x" };
  const asForm = await target.call(uploadCall(key, "--x\r\n\r\n\r\n--x--", "a", form));
  area.attempt("a form", asForm.status >= 400, `${asForm.status}`);
  const { id } = await upload(target, key, "0123456789");
  const ranges = [
    `bytes=${Array.from({ length: 1_000 }, () => "0-9").join(",")}`,
    "bytes=9007199254740993-",
    "bytes=-0",
    "bytes=5-1",
    "bytes=0-99999999999999999999",
    "lines=0-1",
  ];
  for (const range of ranges) {
    const { status, text } = await target.call({ path: `/files/${id}`, key, headers: { range } });
    area.attempt(
      `the range ${range.slice(0, 30)}`,
      [200, 206, 416].includes(status) && text.length <= 500,
      `${status}`,
    );
  }
}
