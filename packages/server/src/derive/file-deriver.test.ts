import { crc32, deflateSync } from "node:zlib";
import { derivedBytes, imageSize } from "@parley/core/messages";
import type { FileDeriver } from "@parley/core/runtime";
import { zipSync } from "fflate";
import { afterEach, describe, expect, it } from "vitest";
import type { DeriveLimits } from "./derive-limits.js";
import { unpacksWithin } from "./document-text.js";
import { createFileDeriver } from "./file-deriver.js";

const started: FileDeriver[] = [];
afterEach(async () => {
  for (const deriver of started.splice(0)) await deriver.close();
});

function start(limits: Partial<DeriveLimits> = {}): FileDeriver {
  const deriver = createFileDeriver(limits);
  started.push(deriver);
  return deriver;
}

/** Returns a PNG of one grey, whose header may claim another size than it has. */
function png(width: number, height: number, claimed = { width, height }): Uint8Array {
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(claimed.width, 0);
  header.writeUInt32BE(claimed.height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, 0x80);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

/** Returns a PDF whose pages have one line of text each. */
function pdf(lines: readonly string[]): Uint8Array {
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>"];
  const kids = lines.map((_, index) => `${4 + index * 2} 0 R`).join(" ");
  objects.push(`<< /Type /Pages /Count ${lines.length} /Kids [${kids}] >>`);
  objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  for (const [index, line] of lines.entries()) {
    const content = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    );
  }
  let text = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
  return Buffer.from(text + table + trailer, "latin1");
}

const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

function docx(paragraphs: readonly string[], others: Record<string, Uint8Array> = {}): Uint8Array {
  const xml = (body: string) => Buffer.from(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${body}`);
  const word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const relations = "http://schemas.openxmlformats.org/package/2006/relationships";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join("");
  return zipSync({
    "[Content_Types].xml": xml(
      `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    ),
    "_rels/.rels": xml(
      `<Relationships xmlns="${relations}"><Relationship Id="r1" Type="${office}" Target="word/document.xml"/></Relationships>`,
    ),
    "word/document.xml": xml(`<w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`),
    ...others,
  });
}

const thumbnailOf = (deriver: FileDeriver, bytes: Uint8Array, mediaType = "image/png") =>
  deriver.derive("thumbnail", { mediaType, name: "a" }, bytes);

const textOf = async (deriver: FileDeriver, bytes: Uint8Array, mediaType = "application/pdf") => {
  const data = await deriver.derive("text", { mediaType, name: "a" }, bytes);
  return data === undefined ? undefined : new TextDecoder().decode(data);
};

describe("a thumbnail", () => {
  it("is a small WebP with the proportions of the image, made again of its own kind", async () => {
    const deriver = start();
    const small = await thumbnailOf(deriver, png(1_200, 600));
    expect(imageSize(small ?? new Uint8Array())).toEqual({ width: 480, height: 240 });
    expect((small ?? []).length).toBeLessThan(5_000);
    const again = await thumbnailOf(deriver, small ?? new Uint8Array(), "image/webp");
    expect(imageSize(again ?? new Uint8Array())).toEqual({ width: 480, height: 240 });
  });

  it("of a small image is no larger", async () => {
    expect(imageSize((await thumbnailOf(start(), png(30, 20))) ?? new Uint8Array())).toEqual({
      width: 30,
      height: 20,
    });
  });

  it.each([
    ["is no image", new TextEncoder().encode("not an image at all, by no means"), "image/png"],
    ["is cut", png(300, 300).subarray(0, 60), "image/png"],
    ["has another type", png(30, 30), "image/jpeg"],
    ["claims a size that it does not have", png(10, 10, { width: 9_000, height: 4_000 }), "image/png"],
  ])("of what %s is none, and the next one is made", async (_, bytes, mediaType) => {
    const deriver = start();
    expect(await thumbnailOf(deriver, bytes, mediaType)).toBeUndefined();
    expect(await thumbnailOf(deriver, png(30, 20))).toBeInstanceOf(Uint8Array);
  });

  it("is not made of more pixels than are allowed, however few bytes they take", async () => {
    const bomb = png(20_000, 20_000, { width: 20_000, height: 20_000 });
    expect(bomb.byteLength).toBeLessThan(1_000_000);
    const before = process.memoryUsage.rss();
    expect(await thumbnailOf(start(), bomb)).toBeUndefined();
    expect(process.memoryUsage.rss() - before).toBeLessThan(400_000_000);
  });

  it("that takes too long or too much ends the thread, and the next one is made in another", async () => {
    const slow = start({ timeoutMs: 1 });
    expect(await thumbnailOf(slow, png(6_000, 6_000))).toBeUndefined();
    const hungry = start({ memoryBytes: -1 });
    expect(await thumbnailOf(hungry, png(6_000, 6_000))).toBeUndefined();
    expect(await thumbnailOf(start(), png(30, 20))).toBeInstanceOf(Uint8Array);
  });
});

describe("the text of a document", () => {
  it("is that of a PDF, page by page", async () => {
    expect(await textOf(start(), pdf(["Hello there", "Second page"]))).toBe(
      "[Page 1]\nHello there\n\n[Page 2]\nSecond page",
    );
  });

  it("is that of a word document", async () => {
    expect(await textOf(start(), docx(["One", "Two äöü"]), docxType)).toBe("One\n\nTwo äöü");
  });

  it("that is too long is cut between two characters, and says so", async () => {
    const text = await textOf(start(), docx(Array.from({ length: 30 }, () => "ä€".repeat(20_000))), docxType);
    expect(new TextEncoder().encode(text).byteLength).toBeLessThanOrEqual(derivedBytes);
    expect(text?.endsWith("\n\n[The text is cut here]\n")).toBe(true);
    expect(text).not.toContain("\ufffd");
  });

  it.each([
    ["a scanned PDF, without text", pdf([""]), "application/pdf"],
    ["a broken PDF", pdf(["Hello"]).subarray(0, 200), "application/pdf"],
    ["a broken archive", docx(["One"]).subarray(0, 300), docxType],
    ["an archive that is not a document", zipSync({ a: new Uint8Array(10) }), docxType],
  ])("of %s is none", async (_, bytes, mediaType) => {
    expect(await textOf(start(), bytes, mediaType)).toBeUndefined();
  });

  it("of an archive that unpacks to too much is none", async () => {
    const bomb = docx(["One"], { "word/media/zeros": new Uint8Array(80 * 2 ** 20) });
    expect(bomb.byteLength).toBeLessThan(200_000);
    expect(await textOf(start(), bomb, docxType)).toBeUndefined();
    expect(unpacksWithin(bomb, 100 * 2 ** 20)).toBe(true);
    expect(unpacksWithin(bomb, 64 * 2 ** 20)).toBe(false);
  });
});

describe("a deriver", () => {
  it("takes the types it knows, up to a size", () => {
    const deriver = start({ sourceBytes: 100 });
    expect(deriver.canDerive("thumbnail", { mediaType: "image/jpeg", size: 100 })).toBe(true);
    expect(deriver.canDerive("thumbnail", { mediaType: "image/jpeg", size: 101 })).toBe(false);
    expect(deriver.canDerive("thumbnail", { mediaType: "image/svg+xml", size: 10 })).toBe(false);
    expect(deriver.canDerive("text", { mediaType: "image/jpeg", size: 10 })).toBe(false);
    expect(deriver.canDerive("text", { mediaType: "application/pdf", size: 10 })).toBe(true);
  });

  it("that is closed refuses what is under way and what comes", async () => {
    const deriver = start();
    const underWay = thumbnailOf(deriver, png(3_000, 3_000));
    await deriver.close();
    await expect(underWay).rejects.toMatchObject({ code: "draining" });
    await expect(thumbnailOf(deriver, png(3, 3))).rejects.toMatchObject({ code: "draining" });
  });
});
