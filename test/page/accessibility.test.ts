import { expect, it } from "vitest";
import { findings } from "./axe.js";
import { answered, asked, exportOf, returned, said } from "./prepared-conversation.js";
import { describePage, type Site } from "./site.js";
import { desktop, phone, type Tab } from "./tab.js";

const config = {
  models: { quick: { kind: "demo", pace: "instant", slowStepMs: 0 }, demo: { kind: "demo" } },
  defaultModel: "quick/demo",
};

const everything = `# A heading

Some *words* with \`code\`, a [link](https://parley.example/) and a picture: ![a map](https://parley.example/map.png)

> A quotation

1. one
2. two

- [x] done
- [ ] open

| name | value |
| --- | --- |
| first | 1 |

\`\`\`ts
export function greet(name: string): string {
  return \`Hello, \${name}\`; // a comment
}
\`\`\``;

async function prepare(site: Site): Promise<void> {
  const call = { toolCallId: "call-1", toolName: "list_files" };
  const turns = [
    [
      asked("Show me everything"),
      answered({ type: "thinking", text: "Hm.", durationMs: 4_200 }, { type: "text", text: everything }),
    ],
    [
      asked("And the files?"),
      answered({ type: "tool-call", ...call, input: { path: "." }, argumentsText: '{"path":"."}' }),
      returned({ type: "tool-result", ...call, content: "README.md", isError: false, durationMs: 20 }),
      said("There is one."),
    ],
    [
      asked("And now fail"),
      answered({ type: "error", code: "provider_overloaded", message: "Too much to do." }),
    ],
  ];
  await site.import(exportOf({ id: "everything", title: "Everything there is" }, turns));
}

type View = readonly [name: string, show: (tab: Tab) => Promise<void>];

const overlay = (name: string, keys: string): View => [
  name,
  async (tab) => {
    await tab.page.keyboard.press(keys);
    await tab.page.getByRole("dialog").waitFor();
  },
];

const inspect = (name: string): View => [
  `the inspector: ${name}`,
  async (tab) => {
    await tab.page.getByRole("complementary", { name: "Inspector" }).getByRole("tab", { name }).click();
    await tab.page.getByRole("tabpanel", { name }).waitFor();
  },
];

/** Each shows something on top of the one before it, or instead of it. */
const views: readonly View[] = [
  [
    "the beginning",
    async (tab) => {
      await tab.page.goto("/");
      await tab.page.getByRole("heading", { name: "What shall we talk about?" }).waitFor();
    },
  ],
  [
    "a conversation with everything in it",
    async (tab) => {
      await tab.page.goto("/c/everything");
      await tab.log.getByRole("group", { name: "Error" }).waitFor();
      await tab.log.getByRole("group", { name: "Tool call" }).getByRole("button").first().click();
      await tab.log.getByRole("button", { name: "Thought for 4.2 s" }).click();
      await tab.log.getByRole("figure", { name: "Code in ts" }).locator("span[style]").first().waitFor();
    },
  ],
  [
    "the menu of a conversation",
    async (tab) => {
      await tab.button("Conversation menu").click();
      await tab.page.getByRole("menuitem", { name: "Compact" }).waitFor();
    },
  ],
  [
    "the compaction dialog",
    async (tab) => {
      await tab.page.getByRole("menuitem", { name: "Compact" }).click();
      await tab.dialog("Compact").getByText("There is nothing to compact.").waitFor();
    },
  ],
  [
    "a message that is edited",
    async (tab) => {
      await tab.page.keyboard.press("Escape");
      await tab.dialog("Compact").waitFor({ state: "detached" });
      await tab.questions.last().hover();
      await tab.questions.last().getByRole("button", { name: "Edit message" }).click();
      await tab.log.getByRole("article", { name: "Edit your message" }).waitFor();
    },
  ],
  [
    "a running turn with a queue",
    async (tab) => {
      await tab.page.goto("/");
      await tab.begin("Use many tools at once");
      await tab.ended(1);
      await tab.page.getByRole("button", { name: /^Model: / }).click();
      await tab.page.getByRole("menuitemradio", { name: "demo/demo" }).click();
      await tab.page.getByRole("button", { name: "Model: demo/demo" }).waitFor();
      await tab.send("Give me a long answer");
      await tab.stopButton.waitFor();
      await tab.send("queued");
      await tab.send("steered", "Control+Enter");
      await tab.page.getByText("2 messages wait").waitFor();
      await tab.composer.fill("and a draft");
    },
  ],
  [
    "a paused queue",
    async (tab) => {
      await tab.stopButton.click();
      await tab.button("Send queued (2)").waitFor();
    },
  ],
  [
    "the inspector",
    async (tab) => {
      await tab.button("Open the inspector").click();
      await tab.page.getByRole("complementary", { name: "Inspector" }).getByText("Stopped").waitFor();
    },
  ],
  inspect("Context"),
  inspect("Trends"),
  inspect("About"),
  overlay("the palette", "Control+k"),
  [
    "the search",
    async (tab) => {
      await tab.page.keyboard.press("Escape");
      await tab.dialog("Commands").waitFor({ state: "detached" });
      await tab.page.keyboard.press("Control+Shift+F");
      await tab.dialog("Search messages").getByRole("combobox").fill("heading");
      await tab.dialog("Search messages").getByRole("option").first().waitFor();
    },
  ],
  [
    "the shortcuts",
    async (tab) => {
      await tab.page.keyboard.press("Escape");
      await tab.dialog("Search messages").waitFor({ state: "detached" });
      await tab.list.getByRole("button", { name: /Shortcuts/ }).click();
      await tab.dialog("Keyboard shortcuts").waitFor();
    },
  ],
  [
    "no such conversation",
    async (tab) => {
      await tab.page.goto("/c/nothing-here");
      await tab.page.getByText("There is no such conversation").waitFor();
    },
  ],
];

describePage("what axe finds on the page", config, (site) => {
  it.each(["light", "dark"] as const)(
    "is nothing in any view (%s)",
    async (colorScheme) => {
      if (colorScheme === "light") await prepare(site());
      const tab = await site().open("/", { ...desktop, colorScheme, baseURL: site().url });
      tab.allowMissing();
      tab.allow(/status of 409 .*\/compact\/preview/);
      const found: Record<string, string[]> = {};
      for (const [name, show] of views) {
        await show(tab);
        // Nothing fades in during the check.
        await tab.page.waitForFunction(() =>
          document
            .getAnimations()
            .every(
              ({ effect, playState }) =>
                playState !== "running" || effect?.getTiming().iterations === Infinity,
            ),
        );
        // The theme changes colors and nothing else.
        const here = await findings(tab, colorScheme === "dark" ? "color-contrast" : undefined);
        if (here.length > 0) found[name] = here;
      }
      expect(found).toEqual({});
    },
    120_000,
  );

  it("is what was done wrong on purpose", async () => {
    const tab = await site().open();
    await tab.composer.waitFor();
    await tab.page.evaluate(() => {
      document.querySelector("main")?.insertAdjacentHTML("beforeend", '<button class="wrong"></button>');
    });
    expect(await findings(tab)).toEqual([expect.stringMatching(/^button-name: <button class="wrong">/)]);
  });

  it.each(["light", "dark"] as const)("is nothing on a phone (%s)", async (colorScheme) => {
    const tab = await site().open("/c/everything", { ...phone, colorScheme });
    await tab.log.getByRole("group", { name: "Error" }).waitFor();
    expect(await findings(tab)).toEqual([]);
    await tab.button("Show conversations").tap();
    await tab.dialog("Conversations").getByRole("link", { name: "Everything there is" }).waitFor();
    expect(await findings(tab)).toEqual([]);
  });
});
