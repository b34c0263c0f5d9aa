import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HistoryResponse, PendingResponse } from "@parley/wire";
import type { Locator } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { findings } from "./axe.js";
import { describePage, type Site } from "./site.js";
import { desktop, patience, phone, type Tab } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

const bidi = "\u202Etxt.exe\u202C \u2066x\u2069 \u0007\u200B";
const html = `<img src=x onerror="window.hacked='argument'"><script>window.hacked='script'</script>`;
const hostile = {
  [`${html}${bidi}`]: `${html}\n${bidi}`,
  ["__proto__"]: { hacked: html },
  big: "0123456789".repeat(100_000),
};
const trip = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, description: `Whose ${bidi}` },
    people: { type: "integer", minimum: 1 },
    class: { enum: ["first", "second"] },
    window: { type: "boolean" },
  },
  required: ["name", "people", "class"],
};

let upstream: Upstream | undefined;
afterAll(() => upstream?.end());

/** Calls the tool that the question names, with the arguments that it names, and then answers that it is done. */
function* script(question: string, results: number): Iterable<Piece> {
  const [, tool, input] = /^(\w+) ?(.*)$/s.exec(question) ?? [];
  if (results > 0 || tool === undefined) yield { text: `Done: ${tool}.` };
  else if (tool === "show") yield { call: "show", input: hostile };
  else if (tool === "ask") yield { call: "ask_user", input: { question: "Where to?", schema: trip } };
  else yield { call: tool, input: JSON.parse(input ?? "{}") as Record<string, unknown> };
}

async function config(): Promise<object> {
  upstream = await Upstream.start(script);
  return {
    models: { local: upstream.credential },
    titleModel: "none",
    tools: { calculator: true, files: { root: "./project" } },
    approvals: {
      askUser: true,
      rules: [
        { tool: "calculator", approval: "once", reason: "Sums are dear" },
        { tool: "*_file*", approval: "always" },
      ],
    },
  };
}

/** Sends a message without the page. */
async function start(site: Site, conversationId: string, message: string, tools?: readonly object[]) {
  const response = await fetch(`${site.url}/chat`, {
    method: "POST",
    body: JSON.stringify({ conversationId, message, tools }),
    headers: { "content-type": "application/json" },
  });
  await response.text();
  expect(response.status).toBe(200);
}

/** Returns the result of the last call, as the log has it. */
async function resultOf(site: Site, conversationId: string): Promise<unknown> {
  const { chunks } = await site.ask<HistoryResponse>("GET", `/conversations/${conversationId}`);
  const last = chunks.findLast(({ chunk }) => chunk.type === "tool-result")?.chunk;
  return last?.type === "tool-result" ? JSON.parse(last.content) : undefined;
}

const card = (tab: Tab, name: RegExp): Locator => tab.page.getByRole("region", { name });
const sum = '{"expression":"6 + 7"}';
/** Returns the messages of the model's last request. */
const lastRequest = () => JSON.stringify(upstream?.requests.at(-1)?.messages);

describePage(
  "the page of a turn that waits",
  config,
  (site) => {
    it("asks in place of the call, over reloads and in every tab, and says who decided", async () => {
      const tab = await site().open();
      const id = await tab.begin(`calculator ${sum}`);
      const asked = card(tab, /^Needs your approval: calculator/);
      await asked.getByText("6 + 7", { exact: true }).waitFor();
      await asked.getByText("Sums are dear").waitFor();
      await asked.getByText("allowing it also allows its later calls here").waitFor();
      await tab.page.locator("[aria-live]", { hasText: "your approval to run calculator" }).waitFor();
      await tab.list.getByText("1 request waits").waitFor();
      await tab.list.locator("[data-entry]").getByText("Waits for a decision").waitFor();
      await expect.poll(() => tab.page.title(), patience).toMatch(/^\(1\) calculator/);
      await tab.page.reload();
      const other = await site().open(`/c/${id}`);
      await card(other, /calculator/)
        .getByText("6 + 7", { exact: true })
        .waitFor();
      // By keyboard: to the card, and from there to the composer.
      await asked.waitFor();
      await tab.log.focus();
      await tab.page.keyboard.press("g");
      await tab.page.keyboard.press("a");
      for (const each of [tab, other]) {
        await each.ended(1);
        await each.log.getByText("Allowed", { exact: true }).waitFor();
      }
      await expect.poll(() => tab.focused(), patience).toBe("Message");
      await expect.poll(() => tab.page.title(), patience).toMatch(/^calculator/);
      await other.log.getByRole("group", { name: "Tool call" }).getByRole("button").first().click();
      await other.log.getByText(/^Allowed by local, .+\d:\d\d/).waitFor();
      await tab.button("Open the inspector").click();
      const inspector = tab.page.getByRole("complementary", { name: "Inspector" });
      await inspector.getByText(/ waiting for decisions, /).waitFor();
    });

    it("denies with a reason, and runs what a person changed", async () => {
      const tab = await site().open();
      await tab.begin('list_files {"path":"."}');
      const asked = card(tab, /list_files/);
      await asked.getByRole("button", { name: "Deny…" }).click();
      await tab.page.keyboard.type("not now");
      // Back and there again: the typed text stays, and the turn keeps waiting.
      await tab.page.keyboard.press("Escape");
      await asked.getByRole("button", { name: "Deny…" }).click();
      await tab.page.keyboard.press("Enter");
      await tab.ended(1);
      expect(lastRequest()).toContain("They said: not now");
      await tab.log.getByText("Denied", { exact: true }).waitFor();

      await tab.send('read_file {"path":"a.txt","lines":1}');
      const second = card(tab, /read_file/);
      await second.getByRole("button", { name: "Edit…" }).click();
      await second.getByRole("textbox", { name: "path" }).fill("b.txt");
      const changes = second.getByRole("list", { name: "Changes" });
      await changes.getByText("Before: ").waitFor();
      expect(await changes.innerText()).toMatch(/path\s+−\s*Before:\s*a\.txt\s+\+\s*Now:\s*b\.txt/);
      expect(await findings(tab)).toEqual([]);
      await second.getByRole("button", { name: "Edit as JSON" }).click();
      await second.getByRole("textbox", { name: "Arguments" }).fill('{"path":');
      await second.getByRole("button", { name: "Allow with changes" }).click();
      await second.getByText("This is not JSON.").waitFor();
      // Arguments that the tool does not accept are refused by the server, and the call keeps waiting.
      await second.getByRole("textbox", { name: "Arguments" }).fill('{"path":"b.txt","lines":0}');
      tab.allow(/status of 400/);
      await second.getByRole("button", { name: "Allow with changes" }).click();
      await second.getByText(/^Not decided\.[\s\S]*lines/).waitFor();
      await second.getByRole("textbox", { name: "Arguments" }).fill('{"path":"b.txt","lines":2}');
      await second.getByRole("button", { name: "Allow with changes" }).click();
      await tab.ended(2);
      expect(lastRequest()).toContain("the second file");
      expect(lastRequest()).not.toContain("the first file");
      await tab.log.getByText("Allowed with changes").click();
      await tab.log.getByRole("list", { name: "Changes" }).getByText("b.txt").waitFor();
    });

    it("puts a question as a form, and sends an answer of its form", async () => {
      const tab = await site().open("/", { ...desktop, colorScheme: "dark" });
      await tab.begin("ask");
      const asked = card(tab, /^The assistant asks you/);
      await asked.getByText("Where to?").waitFor();
      await asked.getByText("U+202E").waitFor();
      await asked.getByRole("button", { name: "Answer" }).click();
      expect(await asked.getByText("This is needed.").count()).toBe(3);
      await asked.getByRole("textbox", { name: "name" }).fill("Ada");
      await asked.getByRole("textbox", { name: "people" }).fill("2.5");
      await asked.getByText("This has to be a whole number.").waitFor();
      expect(await findings(tab)).toEqual([]);
      await asked.getByRole("textbox", { name: "people" }).fill("2");
      await asked.getByRole("radio", { name: "second" }).check();
      await asked.getByRole("combobox", { name: /window/ }).selectOption("No");
      await asked.getByRole("button", { name: "Answer" }).click();
      await tab.ended(1);
      expect(await resultOf(site(), tab.conversationId)).toEqual({
        name: "Ada",
        people: 2,
        class: "second",
        window: false,
      });
    });

    it("lists what waits anywhere, decides there, and keeps an approval until it is revoked", async () => {
      await start(site(), "first", `calculator ${sum}`);
      const tab = await site().open();
      await tab.list.getByText("1 request waits").waitFor();
      await start(site(), "second", 'read_file {"path":"a.txt"}');
      await tab.list.getByText("2 requests wait").waitFor();
      await tab.page.keyboard.press("Control+Shift+L");
      const inbox = tab.dialog("Inbox");
      await inbox.getByRole("region", { name: /calculator/ }).waitFor();
      expect(await findings(tab)).toEqual([]);
      await inbox.getByRole("link", { name: /^read_file/ }).click();
      await card(tab, /read_file/).waitFor();
      expect(tab.conversationId).toBe("second");
      await tab.page.keyboard.press("Control+Shift+L");
      await inbox
        .getByRole("region", { name: /read_file/ })
        .getByRole("button", { name: "Allow once" })
        .click();
      await tab.ended(1);
      const sums = inbox.getByRole("region", { name: /calculator/ });
      await sums.getByRole("button", { name: "Allow always…" }).click();
      // Esc goes back from the form, and does not close the inbox.
      await tab.page.keyboard.press("Escape");
      await sums.getByRole("button", { name: "Allow always…" }).click();
      await sums.getByRole("radio", { name: "These arguments only" }).check();
      await sums.getByText("if each argument shown above has the same value").waitFor();
      await sums.getByRole("radio", { name: "In all conversations" }).check();
      await sums.getByText(/runs without asking in all your conversations/).waitFor();
      await sums.getByRole("button", { name: "Allow always" }).click();
      await inbox.getByText("Nothing waits for you").last().waitFor();
      // It applies: the same call in another conversation does not ask, another one does.
      await start(site(), "third", `calculator ${sum}`);
      await start(site(), "fourth", 'calculator {"expression":"1 + 1"}');
      const waiting = async () =>
        (await site().ask<PendingResponse>("GET", "/pending")).pending.map((each) => each.conversationId);
      expect(await waiting()).toEqual(["fourth"]);
      await tab.page.keyboard.press("Escape");
      await tab.page.keyboard.press("Control+,");
      await tab.page
        .getByRole("navigation", { name: "Settings" })
        .getByRole("link", { name: "Standing approvals" })
        .click();
      const settings = tab.page.getByRole("region", { name: "Standing approvals" });
      await settings.getByText("6 + 7").waitFor();
      expect(await findings(tab)).toEqual([]);
      const all = settings.getByRole("button", { name: "Revoke the approval of calculator" });
      const before = await all.count();
      await settings
        .getByRole("listitem")
        .filter({ hasText: "in all conversations" })
        .getByRole("button")
        .click();
      await expect.poll(() => all.count(), patience).toBe(before - 1);
      await start(site(), "fifth", `calculator ${sum}`);
      expect(await waiting()).toEqual(["fourth", "fifth"]);
      // Decided elsewhere while this page does not know it: the decision in force is shown.
      await tab.page.route("**/pending/**", async (route) => {
        const { argumentsHash } = JSON.parse(route.request().postData() ?? "{}") as { argumentsHash: string };
        await fetch(route.request().url(), {
          method: "POST",
          body: JSON.stringify({ decision: "deny", argumentsHash, note: "mine" }),
          headers: { "content-type": "application/json" },
        });
        await route.continue();
      });
      tab.allow(/status of 409/);
      await tab.list.getByRole("link", { name: /1 \+ 1/ }).click();
      await card(tab, /calculator/)
        .getByRole("button", { name: "Allow once" })
        .click();
      await tab.ended(1);
      await tab.log.getByText("Denied", { exact: true }).click();
      await tab.log.getByText("Your decision came later and changes nothing.").waitFor();
    });

    it("shows hostile arguments as data, on a phone too, and waits for the caller's program", async () => {
      await start(site(), "hostile", "show", [{ name: "show" }]);
      const tab = await site().open("/c/hostile", { ...phone, colorScheme: "dark" });
      const asked = card(tab, /^Waits for the program that brought this tool: show/);
      await asked.getByText("This tool belongs to the program that sent the message").waitFor();
      await asked.getByText("U+202E").first().waitFor();
      await asked.getByRole("button", { name: "Show all (1 MB)" }).waitFor();
      expect((await asked.innerText()).length).toBeLessThan(20_000);
      expect(await asked.locator("img, script").count()).toBe(0);
      expect(await tab.page.evaluate(() => window.hacked)).toBeUndefined();
      expect(await tab.tooWide()).toEqual([]);
      expect(await findings(tab)).toEqual([]);
      await asked.getByRole("button", { name: "Hand the output in…" }).click();
      await asked.getByRole("textbox", { name: /^Output/ }).fill('{"shown":true}');
      await asked.getByRole("button", { name: "Hand in" }).click();
      await tab.ended(1);
      await tab.log.getByText("Output handed in").waitFor();
      expect(await resultOf(site(), "hostile")).toEqual({ shown: true });
    });

    it("says so to a user who may not decide", async () => {
      await start(site(), "readers", 'read_file {"path":"a.txt"}');
      const tab = await site().open("about:blank");
      await tab.page.route("**/me", (route) =>
        route.fulfill({ json: { owner: "local", scopes: ["read", "write"], auth: "keys" } }),
      );
      await tab.page.goto(`${site().url}/c/readers`);
      const asked = card(tab, /read_file/);
      await asked.getByText('Your key cannot decide this: it lacks the scope "approve".').waitFor();
      expect(await asked.getByRole("button").count()).toBe(0);
    });
  },
  async (workplace) => {
    const folder = join(workplace.folder, "project");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.txt"), "the first file\n");
    writeFileSync(join(folder, "b.txt"), "the second file\n");
  },
);
