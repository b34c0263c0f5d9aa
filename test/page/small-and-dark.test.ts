import { describe, expect, it } from "vitest";
import { answered, asked, exportOf, returned, said } from "./prepared-conversation.js";
import { describePage, type Site } from "./site.js";
import { desktop, patience, phone } from "./tab.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };

const wideTable = `| ${Array.from({ length: 14 }, (_, n) => `column ${n}`).join(" | ")} |
|${" --- |".repeat(14)}
| ${Array.from({ length: 14 }, (_, n) => `a rather long value ${n}`).join(" | ")} |`;
const longCode = `\`\`\`ts\nconst line = "${"0123456789".repeat(30)}";\n\`\`\``;

async function prepare(site: Site, id: string): Promise<void> {
  const turns = [
    [asked("a".repeat(400)), said(`${wideTable}\n\n${longCode}\n\n${"unbroken".repeat(60)}`)],
    [
      asked("Which files are there?"),
      answered({
        type: "tool-call",
        toolCallId: "call-1",
        toolName: "a_tool_with_a_remarkably_long_name_for_a_tool",
        input: { path: "/a/very/long/path/".repeat(8) },
        argumentsText: JSON.stringify({ path: "/a/very/long/path/".repeat(8) }),
      }),
      returned({
        type: "tool-result",
        toolCallId: "call-1",
        toolName: "a_tool_with_a_remarkably_long_name_for_a_tool",
        content: "x".repeat(500),
        isError: false,
      }),
      said("One."),
    ],
  ];
  await site.import(
    exportOf({ id, title: `A title that is long enough to be cut off somewhere (${id})` }, turns),
  );
}

describePage("the page", quick, (site) => {
  describe("on a phone of 360 pixels", () => {
    it("has the list as a drawer, and nothing scrolls sideways", async () => {
      await prepare(site(), "wide");
      const tab = await site().open("/", phone);
      await tab.page.getByRole("heading", { name: "What shall we talk about?" }).waitFor();
      expect(await tab.tooWide()).toEqual([]);
      expect(await tab.list.count()).toBe(0);

      await tab.button("Show conversations").tap();
      const drawer = tab.dialog("Conversations");
      await drawer.getByRole("link", { name: /^A title that is long enough/ }).tap();
      await drawer.waitFor({ state: "detached" });
      await tab.log.getByText("One.", { exact: true }).waitFor();
      expect(await tab.tooWide()).toEqual([]);

      // Wide content scrolls in its own box.
      const table = tab.log.getByRole("region", { name: "Table" });
      expect(await table.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true);
      await tab.log.getByRole("group", { name: "Tool call" }).getByRole("button").first().tap();
      await tab.log.getByText("Result", { exact: true }).waitFor();
      expect(await tab.tooWide()).toEqual([]);
    });

    it("sends, and shows inspector, search and dialogs within the screen", async () => {
      const tab = await site().open("/", phone);
      await tab.begin("Use many tools at once");
      await tab.ended(1);
      expect(await tab.tooWide()).toEqual([]);
      await tab.button("Open the inspector").tap();
      const inspector = tab.page.getByRole("complementary", { name: "Inspector" });
      for (const name of ["Turn", "Context", "Trends", "About"]) {
        await inspector.getByRole("tab", { name }).tap();
        await inspector.getByRole("tabpanel", { name }).waitFor();
        expect(await tab.tooWide()).toEqual([]);
      }
      const box = await inspector.boundingBox();
      expect(box).toMatchObject({ x: 0, width: 360 });
      await tab.button("Close inspector").tap();
      await tab.button("Conversation menu").tap();
      tab.allow(/status of 409 .*\/compact\/preview/);
      await tab.page.getByRole("menuitem", { name: "Compact" }).tap();
      await tab.dialog("Compact").waitFor();
      expect(await tab.tooWide()).toEqual([]);
      await tab.dialog("Compact").getByRole("button", { name: "Close" }).tap();
      await tab.button("Show conversations").tap();
      await tab.dialog("Conversations").getByRole("button", { name: "Search" }).tap();
      await tab.dialog("Search messages").getByRole("combobox").fill("tools");
      await tab.dialog("Search messages").getByRole("option").first().waitFor();
      expect(await tab.tooWide()).toEqual([]);
    });

    it("gives fingers enough space, and text fields a size that no browser zooms into", async () => {
      const tab = await site().open("/c/wide", phone);
      await tab.log.getByText("One.", { exact: true }).waitFor();
      const small = await tab.page.evaluate(() =>
        [...document.querySelectorAll("button, a[href]:not(.sr-only)")].flatMap((element) => {
          const { width, height } = element.getBoundingClientRect();
          const isShown = width > 1 && height > 1 && getComputedStyle(element).visibility === "visible";
          // Accessibility requires at least 24 by 24 pixels.
          return isShown && (width < 24 || height < 24)
            ? [`${element.getAttribute("aria-label") ?? element.textContent} ${width}x${height}`]
            : [];
        }),
      );
      expect(small).toEqual([]);
      expect(
        await tab.composer.evaluate((field) => Number.parseFloat(getComputedStyle(field).fontSize)),
      ).toBeGreaterThanOrEqual(16);
    });
  });

  describe("its theme", () => {
    it("is the system's, follows it, and is dark before anything is drawn", async () => {
      const tab = await site().open("/", { ...desktop, colorScheme: "dark" });
      const theme = () => tab.page.locator("html").getAttribute("data-theme");
      await tab.page.getByRole("heading", { name: "What shall we talk about?" }).waitFor();
      expect(await theme()).toBe("dark");
      await tab.page.emulateMedia({ colorScheme: "light" });
      await expect.poll(theme, patience).toBe("light");
      await tab.page.emulateMedia({ colorScheme: "dark" });
      await expect.poll(theme, patience).toBe("dark");

      // Light is never shown on the way to dark.
      await tab.page.addInitScript(() => {
        const seen: (string | undefined)[] = [];
        Reflect.set(window, "seenThemes", seen);
        new MutationObserver(() => {
          if (document.body !== null) seen.push(document.documentElement.dataset.theme);
        }).observe(document, { childList: true, subtree: true });
      });
      await tab.page.reload();
      await tab.page.getByRole("heading", { name: "What shall we talk about?" }).waitFor();
      const seen = (await tab.page.evaluate(() => Reflect.get(window, "seenThemes"))) as string[];
      expect(seen.length).toBeGreaterThan(0);
      expect(new Set(seen)).toEqual(new Set(["dark"]));
    });

    it("can be chosen, is kept, and changes in all tabs of the browser", async () => {
      const tab = await site().open();
      const other = await tab.context.newPage();
      await other.goto(site().url);
      await tab.button("Settings").click();
      await tab.page.getByRole("menuitemradio", { name: "Dark" }).click();
      const themes = async () =>
        Promise.all([tab.page, other].map((page) => page.locator("html").getAttribute("data-theme")));
      await expect.poll(themes, patience).toEqual(["dark", "dark"]);
      const background = () => tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const [red = 255] = /\d+/.exec(await background())?.map(Number) ?? [];
      expect(red).toBeLessThan(64);
      await tab.page.reload();
      await expect.poll(themes, patience).toEqual(["dark", "dark"]);
      await tab.button("Settings").click();
      await tab.page.getByRole("menuitemradio", { name: "As the system" }).click();
      await expect.poll(themes, patience).toEqual(["light", "light"]);
    });
  });
});
