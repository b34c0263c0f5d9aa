import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { describeWithChromium, launchBrowser } from "./harness/chromium.js";

const page = `<!doctype html><meta charset="utf-8"><title>Parley</title>
<body style="margin:0;background:rgb(0,128,0)"><h1 id="greeting"></h1>
<script type="module">document.querySelector("#greeting").textContent = "Grüße from " + location.hostname;</script>`;

async function serve(html: string): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end(html),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describeWithChromium("a real browser", () => {
  it("renders a page from 127.0.0.1, runs its script and takes a picture of it", async () => {
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const tab = await browser.newPage({ viewport: { width: 320, height: 200 } });
    await tab.goto(await serve(page));

    await tab.waitForFunction(() => document.querySelector("#greeting")?.textContent !== "");
    expect(await tab.textContent("#greeting")).toBe("Grüße from 127.0.0.1");
    // Text has a width only when a font was found.
    const width = await tab.evaluate(() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector("#greeting") as Element);
      return range.getBoundingClientRect().width;
    });
    expect(width).toBeGreaterThan(50);

    const picture = await tab.screenshot();
    expect(picture.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([320, 200]);
  });

  it("keeps contexts apart and continues after one is closed", async () => {
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const url = await serve(page);
    const first = await browser.newContext();
    const tab = await first.newPage();
    await tab.goto(url);
    await tab.evaluate(() => localStorage.setItem("who", "first"));
    await first.close();

    const second = await (await browser.newContext()).newPage();
    await second.goto(url);
    expect(await second.evaluate(() => localStorage.getItem("who"))).toBeNull();
  });

  it("cannot reach any other host", async () => {
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const tab = await browser.newPage();
    await expect(tab.goto("http://parley.example/")).rejects.toThrow(/ERR_NAME_NOT_RESOLVED/);
  });
});
