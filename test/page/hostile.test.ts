import { afterAll, expect, it } from "vitest";
import { answered, asked, exportOf, returned, said } from "./prepared-conversation.js";
import { describePage, type Site } from "./site.js";
import { patience, type Tab } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

const evil = "https://evil.example";
const html = `<script>window.hacked = "script"</script><img src="${evil}/x.png" onerror="window.hacked = 'error'">
<svg onload="window.hacked = 'svg'"><a xlink:href="javascript:window.hacked=1">x</a></svg><b onclick="hacked=1">bold?</b>
<iframe src="${evil}/frame" srcdoc="<script>parent.hacked = 1</script>"></iframe><style>* { display: none !important }</style>
<form action="${evil}"><button formaction="javascript:window.hacked=2">press</button></form>
<base href="${evil}/"><meta http-equiv="refresh" content="0;url=${evil}"><object data="${evil}/o"></object>
<link rel="stylesheet" href="${evil}/s.css"><video autoplay src="${evil}/v.mp4"></video>`;
const links = `[script](javascript:window.hacked='link') [mixed case](JaVaScRiPt:alert(1)) [tab](java\tscript:alert(1))
[data](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) [vb](vbscript:msgbox) [file](file:///etc/passwd)
[blob](blob:${evil}/1) [relative](//evil.example/x) [encoded](javascript&#58;alert(1)) <javascript:alert(1)>
![picture](${evil}/track.png) ![data picture](data:image/svg+xml,<svg onload=alert(1)>) [good](https://parley.example/ok)
[reference][1] ${evil}/bare

[1]: javascript:window.hacked='reference'`;
const bidi =
  "\u202Etxt.exe\u202C \u2067\u0645\u0631\u062D\u0628\u0627 abc\u2069 \u200F\u05E9\u05DC\u05D5\u05DD 123 \u2066\u2066\u2066\u202E";
const table = (rows: number, columns: number) =>
  [
    `|${" h |".repeat(columns)}`,
    `|${" - |".repeat(columns)}`,
    ...Array.from({ length: rows }, (_, row) => `|${` ${row} <i>x</i> |`.repeat(columns)}`),
  ].join("\n");
const deep = `${"> ".repeat(200)}deep\n\n${"- ".repeat(200)}deeper\n\n${"**_".repeat(500)}never closed`;
const megabyte = "\u{1D54F}<b>".repeat(1_000_000 / 7);
const fence = `\`\`\`html\n${html}\n\`\`\`\n\n\`\`\`"><img src=x onerror=alert(1)>\ncode\n\`\`\``;
const maths = `$$\\href{javascript:alert(1)}{x}$$ :::${html}::: {{constructor.constructor('alert(1)')()}} \${alert(1)}`;

const title = `<img src=x onerror="window.hacked='title'"> ${bidi} ${"long".repeat(100)}`;

async function prepare(site: Site): Promise<void> {
  const tool = { toolCallId: "call-1", toolName: `<script>hacked=3</script>${bidi}` };
  const input = { html, [html.slice(0, 60)]: links, deep: [[[[megabyte.slice(0, 50_000)]]]] };
  const turns = [
    [asked(html), said(html)],
    [asked(links), said(links)],
    [asked(bidi), said(`# ${bidi}\n\n${bidi}`)],
    [asked(table(20, 8)), said(table(3_000, 20))],
    [asked(megabyte), said(megabyte)],
    [asked("one line of code"), said(`\`\`\`js\n${megabyte}\n\`\`\``)],
    [asked(deep), said(deep)],
    [asked(fence), said(`${fence}\n\n${maths}`)],
    [
      asked("tools"),
      answered(
        { type: "thinking", text: `${html}\n\n${links}\n\n${megabyte.slice(0, 200_000)}` },
        { type: "tool-call", ...tool, input, argumentsText: JSON.stringify(input) },
      ),
      returned({ type: "tool-result", ...tool, content: `${html}${megabyte}`, isError: false }),
      answered(
        {
          type: "text",
          text: `[${html.slice(0, 90)}, text/html]`,
          inline: { mediaType: "text/html", filename: html.slice(0, 90), url: "javascript:alert(1)" },
        },
        { type: "source", title: html.slice(0, 90), url: "javascript:window.hacked='source'" },
        { type: "source", title: "an honest one", url: "https://parley.example/source" },
        { type: "data", data: { html, ["__proto__"]: { hacked: 1 } } },
        { type: "text", text: "the end" },
      ),
    ],
    [asked("fail"), answered({ type: "error", code: "provider_rejected", message: html })],
  ];
  await site.import(exportOf({ id: "hostile", title }, turns));
}

/** Returns everything of this that became more than text. */
async function lively(tab: Tab): Promise<unknown> {
  return tab.page.evaluate(() => {
    const all = <Kind extends Element>(selector: string) => [
      ...document.body.querySelectorAll<Kind>(selector),
    ];
    const risky =
      "iframe, img, object, embed, form, style, link, base, meta, video, audio, [srcdoc], [formaction]";
    const own = 'script[type="module"][src^="/assets/"]';
    return {
      hacked: window.hacked,
      elements: [...all(risky), ...all(`script:not(${own})`)].map(({ outerHTML }) => outerHTML.slice(0, 80)),
      links: all("[href]")
        .map((link) => link.getAttribute("href") ?? "")
        .filter((href) => !/^(https?:\/\/(parley|evil)\.example\/|mailto:|\/(?!\/)|#)/.test(href)),
      handlers: all("*").filter((element) =>
        element.getAttributeNames().some((name) => name.startsWith("on")),
      ).length,
    };
  });
}

const harmless = { hacked: undefined, elements: [], links: [], handlers: 0 };

/** Returns the number of nodes in the document: content that cannot be read at once should not be there at once. */
const nodes = (tab: Tab) => tab.page.evaluate(() => document.querySelectorAll("*").length);

let upstream: Upstream | undefined;
afterAll(() => upstream?.end());

async function config(): Promise<object> {
  upstream = await Upstream.start(function* (): Iterable<Piece> {
    const whole = [html, links, bidi, deep, fence, maths, table(30, 6)].join("\n\n");
    yield { text: html, thought: true };
    // Cut anywhere, so that every half of a tag, a link and a fence is once the end of what is shown.
    for (let at = 0; at < whole.length; at += 7) yield { text: whole.slice(at, at + 7) };
    yield { text: "\n\nthe end" };
  });
  return { models: { local: upstream.credential } };
}

describePage("hostile content on the page", config, (site) => {
  it("is text, wherever it is shown, and the page stays usable", async () => {
    await prepare(site());
    const tab = await site().open("/c/hostile");
    await tab.log.getByText("the end", { exact: true }).waitFor();
    const seen = new Set<number>();
    await tab.log.hover();
    for (let scrolls = 0; seen.size === 0 || !seen.has(0); scrolls += 1) {
      expect(scrolls).toBeLessThan(600);
      expect(await lively(tab)).toEqual(harmless);
      expect(await nodes(tab)).toBeLessThan(20_000);
      for (const row of await tab.log
        .locator("[data-index]")
        .evaluateAll((rows) => rows.map((each) => Number((each as HTMLElement).dataset.index))))
        seen.add(row);
      await tab.log.evaluate((box) => box.scrollBy(0, -1.5 * box.clientHeight));
      await tab.page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
    }
    // Every row was checked.
    expect(Math.max(...seen) + 1).toBe(seen.size);
    await tab.composer.fill("still here");
    expect(await tab.composer.inputValue()).toBe("still here");
    expect(await tab.tooWide()).toEqual([]);
  });

  it("is text when it is opened: tools, reasoning, what was cut, and the text of an error", async () => {
    const tab = await site().open("/c/hostile");
    await tab.log.getByText("the end", { exact: true }).waitFor();
    await tab.log.getByRole("group", { name: "Tool call" }).getByRole("button").first().click();
    await tab.log.getByText("Result", { exact: true }).waitFor();
    await tab.log.getByRole("button", { name: /^Thought/ }).click();
    await tab.log.getByText("What was said exactly").click();
    await tab.log.getByRole("link", { name: "an honest one" }).waitFor();
    expect(await lively(tab)).toEqual(harmless);
    const more = tab.log.getByRole("button", { name: /^Show (all|more)/ });
    for (let clicks = 0; clicks < 4 && (await more.count()) > 0; clicks += 1) await more.first().click();
    expect(await lively(tab)).toEqual(harmless);
    await tab.composer.fill("still here");
    expect(await tab.tooWide()).toEqual([]);
  });

  it("is text in titles, lists, the palette, the search and the inspector", async () => {
    const tab = await site().open("/c/hostile");
    await tab.log.getByText("the end", { exact: true }).waitFor();
    expect(await tab.page.title()).toContain("<img src=x");
    await tab.button("Open the inspector").click();
    const inspector = tab.page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByRole("combobox", { name: "Turn" }).waitFor();
    expect(await lively(tab)).toEqual(harmless);
    await tab.page.keyboard.press("Control+k");
    await tab.dialog("Commands").getByRole("option").first().waitFor();
    await tab.page.keyboard.type("<img src=x onerror=alert(1)>");
    expect(await lively(tab)).toEqual(harmless);
    await tab.page.keyboard.press("Escape");
    await tab.dialog("Commands").waitFor({ state: "detached" });
    await tab.page.keyboard.press("Control+Shift+F");
    await tab.dialog("Search messages").getByRole("combobox").fill("hacked script");
    await tab.dialog("Search messages").getByRole("option").first().waitFor();
    expect(await lively(tab)).toEqual(harmless);
    // The effect of a reversing character ends with its title.
    const titles = tab.list.locator("bdi");
    expect(await titles.evaluateAll((all) => all.map((each) => getComputedStyle(each).unicodeBidi))).toEqual(
      (await titles.all()).map(() => expect.stringMatching(/isolate|plaintext/)),
    );
  });

  it("has a direction line by line, as it was typed", async () => {
    const lines = "\u0645\u0631\u062D\u0628\u0627:\ndef f(x):\n    return x";
    const tab = await site().open();
    await tab.begin(lines);
    await tab.ended(1);
    const shown = tab.questions.first().locator(".lines-by-themselves");
    // Positions of the first and the last character of each line: an Arabic line ends at its left, code at its right.
    const ends = await shown.evaluate((element) => {
      const [node] = element.childNodes;
      const text = node?.textContent ?? "";
      const leftOf = (at: number) => {
        const range = document.createRange();
        range.setStart(node as Node, at);
        range.setEnd(node as Node, at + 1);
        return range.getBoundingClientRect().left;
      };
      let start = 0;
      return text.split("\n").map((line) => {
        const first = leftOf(start);
        const last = leftOf(start + line.length - 1);
        start += line.length + 1;
        return last < first ? "right to left" : "left to right";
      });
    });
    expect(ends).toEqual(["right to left", "left to right", "left to right"]);
    const styleOf = (field: typeof shown) =>
      field.evaluate((element) => {
        const { unicodeBidi, textAlign } = getComputedStyle(element);
        return { unicodeBidi, textAlign };
      });
    const each = { unicodeBidi: "plaintext", textAlign: "start" };
    expect(await styleOf(shown)).toEqual(each);
    expect(await styleOf(tab.composer)).toEqual(each);
    await tab.questions.first().hover();
    await tab.questions.first().getByRole("button", { name: "Edit message" }).click();
    expect(
      await styleOf(tab.log.getByRole("article", { name: "Edit your message" }).getByRole("textbox")),
    ).toEqual(each);
  });

  it("is text while it streams in, cut anywhere, and in what one types", async () => {
    const tab = await site().open();
    await tab.begin(`${html} ${bidi}`);
    await expect
      .poll(async () => {
        expect(await lively(tab)).toEqual(harmless);
        return tab.log.getByText("the end", { exact: true }).count();
      }, patience)
      .toBe(1);
    await tab.ended(1);
    expect(await lively(tab)).toEqual(harmless);
    expect(await tab.tooWide()).toEqual([]);
    // The formula is shown as it was written until the part that draws it has been loaded.
    await expect.poll(() => tab.answers.last().innerText(), patience).not.toContain("$$\\href");
    // Read from the log as a whole it is the same text.
    const pieced = await tab.answers.last().innerText();
    expect(pieced).toContain("<script>window.hacked");
    await tab.page.reload();
    await tab.log.getByText("the end", { exact: true }).waitFor();
    await expect.poll(() => tab.answers.last().innerText(), patience).toBe(pieced);
  });

  it("cannot even frame the page, or load anything from elsewhere", async () => {
    const response = await fetch(site().url);
    const policy = response.headers.get("content-security-policy") ?? "";
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    // The guard of these tests sees what the policy blocks.
    const tab = await site().open();
    await tab.composer.waitFor();
    await tab.page.evaluate((address) => {
      document.body.append(Object.assign(document.createElement("img"), { src: address }));
    }, `${evil}/x.png`);
    await expect
      .poll(() => tab.problems(), patience)
      .toContainEqual(expect.stringContaining("policy: img-src"));
    tab.allow(/evil\.example/);
  });
});
