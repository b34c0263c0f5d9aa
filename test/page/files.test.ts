import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { fileChunk } from "@parley/fold";
import type { ExportLine, HistoryResponse, UploadInfo } from "@parley/wire";
import type { Locator } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { findings } from "./axe.js";
import { CutWire } from "./cut-wire.js";
import { describePage, type Site } from "./site.js";
import { desktop, patience, phone, type Tab } from "./tab.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };

/** Returns a picture, as a PNG. */
function png(width: number, height: number, colour: (place: number) => readonly number[]): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length, 0);
    body.copy(framed, 4);
    framed.writeUInt32BE(crc(body), body.length + 4);
    return framed;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: width }, (__, x) => colour(y * width + x)).flat()]),
  );
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns a picture that cannot be compressed. */
function noise(width: number, height: number): Buffer {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 24;
  };
  return png(width, height, () => [next(), next(), next()]);
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}

const cat = { name: "cat.png", mimeType: "image/png", buffer: png(320, 200, () => [14, 107, 98]) };
const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Some notes.\n".repeat(200)) };

/** Returns the files of the message that is being written. */
const attached = (tab: Tab): Locator =>
  tab.page.getByRole("list", { name: "Attached files" }).getByRole("listitem");

const isAttached = (tab: Tab, name: string) => tab.button(`Remove ${name}`).waitFor();

/** Chooses files as a person does: by the button. */
async function attach(tab: Tab, ...files: readonly (typeof cat)[]): Promise<void> {
  const [chooser] = await Promise.all([
    tab.page.waitForEvent("filechooser"),
    tab.page.getByRole("region", { name: "Composer" }).getByRole("button", { name: "Attach files" }).click(),
  ]);
  await chooser.setFiles([...files]);
}

/**
 * Drops files on an element, with the events of a browser. Returns true if the browser was kept from leaving the page.
 */
function drop(target: Locator, files: readonly (typeof cat)[]): Promise<boolean> {
  const given = files.map(({ name, mimeType, buffer }) => ({
    name,
    type: mimeType,
    data: buffer.toString("base64"),
  }));
  return target.evaluate((element, all) => {
    const dataTransfer = new DataTransfer();
    for (const { name, type, data } of all) {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      dataTransfer.items.add(new File([bytes], name, { type }));
    }
    const more = { dataTransfer, bubbles: true, cancelable: true };
    element.dispatchEvent(new DragEvent("dragenter", more));
    const over = new DragEvent("dragover", more);
    element.dispatchEvent(over);
    const dropped = new DragEvent("drop", more);
    element.dispatchEvent(dropped);
    return over.defaultPrevented && dropped.defaultPrevented;
  }, given);
}

const shownPictures = (within: Locator) =>
  within.evaluate(
    (element) =>
      [...element.querySelectorAll("img")].filter((image) => image.complete && image.naturalWidth > 0).length,
  );

async function upload(site: Site, name: string, bytes: Buffer): Promise<UploadInfo> {
  const path = `${site.url}/files?name=${encodeURIComponent(name)}`;
  const response = await fetch(path, { method: "POST", body: new Uint8Array(bytes) });
  return (await response.json()) as UploadInfo;
}

describePage("the page and files", quick, (site) => {
  it("sends files that were chosen, shows them, opens a picture in full and downloads", async () => {
    const tab = await site().open();
    await attach(tab, cat, notes);
    await isAttached(tab, "cat.png");
    await isAttached(tab, "notes.txt");
    expect(await attached(tab).nth(1).innerText()).toContain("Text, 2.3 KB");
    await tab.begin("What is this?");
    const message = tab.questions.first();
    await expect.poll(() => shownPictures(message), patience).toBe(1);
    await tab.ended(1);
    expect(await message.innerText()).not.toContain("[cat.png");
    expect(await message.innerText()).toContain("notes.txt");
    expect(await attached(tab).count()).toBe(0);

    const open = message.getByRole("button", { name: "Show cat.png" });
    await open.focus();
    await tab.page.keyboard.press("Enter");
    const dialog = tab.dialog("cat.png");
    await expect.poll(() => shownPictures(dialog), patience).toBe(1);
    expect(await findings(tab)).toEqual([]);
    await tab.page.keyboard.press("Tab");
    await tab.page.keyboard.press("Tab");
    await tab.page.keyboard.press("Tab");
    // The focus guard of the dialog has the focus for a moment when it wraps around.
    const hasFocus = () => dialog.evaluate((element) => element.contains(document.activeElement));
    await expect.poll(hasFocus, patience).toBe(true);
    await tab.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => tab.focused(), patience).toBe("Show cat.png");

    const [download] = await Promise.all([
      tab.page.waitForEvent("download"),
      message.getByRole("link", { name: "Download notes.txt" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("notes.txt");
    expect((await readFile(await download.path())).equals(notes.buffer)).toBe(true);
    await tab.page.reload();
    await expect.poll(() => shownPictures(tab.questions.first()), patience).toBe(1);
    expect(await findings(tab)).toEqual([]);
  });

  it("takes files that are dropped anywhere, and never leaves for one", async () => {
    const tab = await site().open();
    await tab.composer.waitFor();
    expect(await drop(tab.page.getByRole("heading", { name: "What shall we talk about?" }), [cat])).toBe(
      true,
    );
    await isAttached(tab, "cat.png");
    expect(await drop(tab.list, [notes])).toBe(true);
    await isAttached(tab, "notes.txt");
    await tab.page.goto(`${site().url}/nowhere`).catch(() => undefined);
    tab.allow(/status of 404/);
    expect(await drop(tab.page.locator("body"), [cat])).toBe(true);
  });

  it("attaches a picture that is pasted, and a long text on demand", async () => {
    const tab = await site().open();
    await tab.composer.waitFor();
    await tab.composer.evaluate((element, data) => {
      const clipboardData = new DataTransfer();
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      clipboardData.items.add(new File([bytes], "image.png", { type: "image/png" }));
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, cat.buffer.toString("base64"));
    await isAttached(tab, "image.png");

    await tab.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const long = "A line of text that was copied from somewhere.\n".repeat(300);
    await tab.page.evaluate((text) => navigator.clipboard.writeText(text), long);
    await tab.composer.fill("Read this: ");
    await tab.composer.press("Control+End");
    await tab.composer.press("Control+V");
    await tab.page.getByText("You pasted 14 KB of text.").waitFor();
    expect(await findings(tab)).toEqual([]);
    await tab.button("Attach as a file").click();
    await isAttached(tab, "Pasted text.txt");
    expect(await tab.composer.inputValue()).toBe("Read this: ");
    expect(await tab.focused()).toBe("Message");

    await tab.composer.press("Control+V");
    await tab.button("Keep it as text").click();
    expect(await tab.composer.inputValue()).toBe(`Read this: ${long}`);
    expect(await attached(tab).count()).toBe(2);
  });

  it("shows the progress of several, lets one be canceled, and sends when all are there", async () => {
    const tab = await site().open("about:blank");
    const held = await tab.hold(/\/files\?name=/);
    await tab.page.goto(site().url);
    await attach(tab, cat, notes);
    await tab.page.getByRole("progressbar", { name: "Upload of cat.png" }).waitFor();
    expect(await findings(tab)).toEqual([]);
    await tab.button("Cancel notes.txt").click();
    await expect.poll(() => attached(tab).count(), patience).toBe(1);
    expect(await tab.focused()).toBe("Message");
    await tab.send("Too early");
    await tab.page.getByText("Not sent yet: files are still being uploaded.").waitFor();
    expect(await tab.composer.inputValue()).toBe("Too early");
    held.release();
    await isAttached(tab, "cat.png");
    await tab.page.getByText("cat.png is attached").waitFor({ state: "attached" });
    await tab.composer.press("Enter");
    await tab.ended(1);
    expect(await tab.questions.first().innerText()).toContain("Too early");
  });

  it("says why a file was not uploaded, holds the message back, and uploads it again", async () => {
    const tab = await site().open("about:blank");
    tab.allow(/ERR_FAILED|ERR_CONNECTION/);
    let isBroken = true;
    await tab.page.route(/\/files\?name=/, (route) => (isBroken ? route.abort() : route.continue()));
    await tab.page.goto(site().url);
    await attach(tab, cat);
    await attached(tab).getByText("Not uploaded: connection lost").waitFor();
    expect(await findings(tab)).toEqual([]);
    await tab.send("Look");
    await tab.page.getByText("Not sent: a file was not uploaded. Retry it or remove it.").waitFor();
    isBroken = false;
    await tab.button("Retry cat.png").click();
    await isAttached(tab, "cat.png");
  });

  it("says what the server takes before anything is sent", async () => {
    const tab = await site().open("about:blank");
    await tab.page.route(/\/me$/, async (route) => {
      const response = await route.fetch();
      const files = { fileBytes: 2_000, messageFiles: 1, messageFileBytes: 4_000 };
      await route.fulfill({ response, json: { ...(await response.json()), files } });
    });
    const uploads: string[] = [];
    tab.page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("/files")) uploads.push(request.url());
    });
    await tab.page.goto(site().url);
    const button = tab.button("Attach files");
    expect(await button.getAttribute("title")).toBe(
      "Files for a message: at most 1, 2 KB each and 3.9 KB together",
    );
    await attach(tab, notes, cat, { ...cat, name: "second.png" });
    await attached(tab).getByText("The file is larger than 2 KB, the limit per file").waitFor();
    await attached(tab).getByText("The limit of files per message is 1").waitFor();
    await isAttached(tab, "cat.png");
    expect(uploads).toHaveLength(1);
    expect(await tab.button("Retry notes.txt").count()).toBe(0);
  });

  it("keeps the files of a draft across a reload, and says when one has expired", async () => {
    const tab = await site().open();
    await attach(tab, cat, notes);
    await isAttached(tab, "notes.txt");
    await isAttached(tab, "cat.png");
    await tab.page.reload();
    await isAttached(tab, "cat.png");
    await isAttached(tab, "notes.txt");
    await tab.page.evaluate(() => {
      const all = JSON.parse(localStorage.getItem("parley.draft-files") ?? "{}");
      all.new[1].expiresAt = Date.now() - 1_000;
      localStorage.setItem("parley.draft-files", JSON.stringify(all));
    });
    await tab.page.reload();
    await attached(tab).getByText("Expired: attach it again").waitFor();
    await tab.send("Look");
    await tab.page.getByText("Not sent: a file has expired.").waitFor();
    const [chooser] = await Promise.all([
      tab.page.waitForEvent("filechooser"),
      tab.button("Attach notes.txt again").click(),
    ]);
    await chooser.setFiles([notes]);
    await tab.page.getByText("notes.txt is attached").waitFor({ state: "attached" });
    await tab.composer.press("Enter");
    await tab.ended(1);
    await expect.poll(() => shownPictures(tab.questions.first()), patience).toBe(1);
    expect(await tab.page.evaluate(() => localStorage.getItem("parley.draft-files"))).toBeNull();
  });

  it("keeps the files of a message that was not sent, across a reload and back to the composer", async () => {
    const wire = await CutWire.to(site().server.port);
    onTestFinished(() => wire.end());
    const tab = await site().open("/", { ...desktop, origin: wire.url });
    tab.allow(/ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|Connection closed before/);
    const id = await tab.begin("work out 1 + 2");
    await tab.ended(1);
    await attach(tab, cat);
    await isAttached(tab, "cat.png");
    wire.cut();
    await tab.button("Try now").waitFor();
    await tab.send("Look at this");
    await tab.questions.getByText("Unsent: waits for the connection").waitFor();
    await tab.page.goto("about:blank");
    wire.mend();
    await tab.page.goto(`${wire.url}/c/${id}`);
    const unsent = tab.questions.filter({ hasText: "Not sent. The page was closed" });
    await expect.poll(() => shownPictures(unsent), patience).toBe(1);
    await unsent.getByRole("button", { name: "Edit" }).click();
    await isAttached(tab, "cat.png");
    expect(await tab.composer.inputValue()).toBe("Look at this");
    await tab.composer.press("Enter");
    await tab.ended(2);
    const { chunks } = await site().ask<HistoryResponse>("GET", `/conversations/${id}`);
    expect(
      chunks.filter(({ chunk }) => chunk.type === "text" && chunk.file?.name === "cat.png"),
    ).toHaveLength(1);
  });

  it("takes the files of a message into an edit and into a repetition", async () => {
    const tab = await site().open();
    await attach(tab, cat, notes);
    await isAttached(tab, "cat.png");
    await isAttached(tab, "notes.txt");
    const first = await tab.begin("work out 1 + 1");
    await tab.ended(1);
    await tab.button("Edit message").click();
    const editor = tab.page.getByRole("article", { name: "Edit your message" });
    expect(await editor.getByRole("textbox").inputValue()).toBe("work out 1 + 1");
    await editor.getByRole("button", { name: "Remove notes.txt" }).click();
    const [chooser] = await Promise.all([
      tab.page.waitForEvent("filechooser"),
      editor.getByRole("button", { name: "Attach files" }).click(),
    ]);
    await chooser.setFiles([{ ...notes, name: "more.txt" }]);
    await editor.getByRole("button", { name: "Remove more.txt" }).waitFor();
    expect(await findings(tab)).toEqual([]);
    await editor.getByRole("textbox").fill("work out 2 + 2");
    await editor.getByRole("button", { name: "Send as a branch" }).click();
    await expect.poll(() => tab.page.url(), patience).not.toContain(first);
    await tab.ended(1);
    const names = async () => {
      const { chunks } = await site().ask<HistoryResponse>("GET", `/conversations/${tab.conversationId}`);
      return chunks.flatMap(({ chunk }) => (chunk.type === "text" ? (chunk.file?.name ?? []) : []));
    };
    expect(await names()).toEqual(["cat.png", "more.txt"]);
    const second = tab.conversationId;
    await tab.button("Regenerate answer").click();
    await expect.poll(() => tab.page.url(), patience).not.toContain(second);
    await tab.ended(1);
    expect(await names()).toEqual(["cat.png", "more.txt"]);
  });

  it("draws a large picture from its thumbnail, and says in the inspector what the model got of it", async () => {
    const tab = await site().open();
    const asked: string[] = [];
    tab.page.on("request", (request) => {
      if (request.resourceType() === "image" && request.url().includes("/files/")) asked.push(request.url());
    });
    const large = { ...cat, name: "large.png", buffer: noise(300, 200) };
    expect(large.buffer.length).toBeGreaterThan(100_000);
    await attach(tab, large);
    await isAttached(tab, "large.png");
    await tab.begin("Look at this");
    await tab.ended(1);
    await expect.poll(() => shownPictures(tab.questions.first()), patience).toBe(1);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((url) => !url.endsWith("?variant=thumbnail"))).toEqual([]);
    await tab.questions.first().getByRole("button", { name: "Show large.png" }).click();
    await expect.poll(() => asked.at(-1), patience).toMatch(/\/files\/\d+$/);
    await tab.page.keyboard.press("Escape");
    await tab.button("Inspect this turn").click();
    const inspector = tab.page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByText("not sent, named in a line: this model is shown no files").waitFor();
    expect(await findings(tab)).toEqual([]);
  });

  it("shows names harmlessly, whatever is in them", async () => {
    const { hash, size } = await upload(site(), "a.bin", Buffer.from([1, 2, 3]));
    const hostile = [
      "invoice\u202Efdp.exe",
      "<img src=x onerror=hacked=1>.txt",
      `${"long name ".repeat(40)}.pdf`,
      "line\nfeed\u0007\u0000.txt",
      "",
    ];
    const lines: ExportLine[] = [
      {
        type: "conversation",
        format: "parley.conversation.1",
        conversation: { id: "names", createdAt: 1, lastActivityAt: 1, title: "Names", status: "idle" },
        lastSeq: hostile.length,
      } as ExportLine,
      ...hostile.map(
        (name, index) =>
          ({
            type: "chunk",
            seq: index + 1,
            role: "user",
            messageId: "m1",
            createdAt: 1,
            partIndex: index,
            partCount: hostile.length,
            chunk: fileChunk({
              seq: index + 1,
              name,
              mediaType: "application/octet-stream",
              size,
              hash,
            }),
          }) as ExportLine,
      ),
    ];
    await site().import(lines);
    for (const device of [desktop, phone]) {
      const tab = await site().open("/c/names", device);
      const files = tab.questions.first().getByRole("list", { name: "Files" }).getByRole("listitem");
      await expect.poll(() => files.count(), patience).toBe(hostile.length);
      expect(await files.first().innerText()).toContain("invoice\uFFFDfdp.exe".slice(-10));
      expect(await tab.questions.first().innerText()).not.toMatch(/\p{Cf}|\u202E/u);
      expect(await tab.page.evaluate(() => window.hacked)).toBeUndefined();
      expect(await tab.tooWide()).toEqual([]);
      expect(await findings(tab)).toEqual([]);
    }
  });
});

describe("the page and files, while a turn runs", () => {
  describePage("at the pace of a person", {}, (site) => {
    it("queues a message with its files, and keeps them when its text is edited", async () => {
      const tab = await site().open();
      const id = await tab.begin("Give me a long answer");
      await tab.log.getByText("You asked for something long").waitFor();
      await attach(tab, cat);
      await isAttached(tab, "cat.png");
      await tab.send("work out 1 + 2");
      const queue = tab.page.getByRole("region", { name: "Queue" });
      await queue.getByText("cat.png").waitFor();
      expect(await queue.innerText()).not.toContain("[cat.png");
      await queue.getByRole("button", { name: "Edit queued message" }).click();
      const field = queue.getByRole("textbox", { name: "Queued message" });
      expect(await field.inputValue()).toBe("work out 1 + 2");
      await field.fill("work out 2 + 3");
      await field.press("Enter");
      await queue.getByText("work out 2 + 3").waitFor();
      expect(await findings(tab)).toEqual([]);
      await tab.stopButton.click();
      await tab.page.getByRole("button", { name: "Send queued (1)" }).click();
      await tab.ended(2);
      const { chunks } = await site().ask<HistoryResponse>("GET", `/conversations/${id}`);
      const sent = chunks.flatMap(({ chunk, role }) =>
        role === "user" && chunk.type === "text" ? [chunk.file?.name ?? chunk.text] : [],
      );
      expect(sent).toEqual(["Give me a long answer", "work out 2 + 3", "cat.png"]);
      await expect.poll(() => shownPictures(tab.questions.nth(1)), patience).toBe(1);
    });
  });
});
