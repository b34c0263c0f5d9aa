import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { describePage } from "./site.js";
import type { Tab } from "./tab.js";

let upstream: Server | undefined;
afterAll(() => {
  upstream?.close();
  upstream?.closeAllConnections();
});

/** Usage of each answer, in order: the third loses the cache that the second had. */
const reports = [
  { prompt_tokens: 4_000, completion_tokens: 100 },
  { prompt_tokens: 6_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 4_000 } },
  { prompt_tokens: 8_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 0 } },
  { prompt_tokens: 9_000, completion_tokens: 100, cost: 0.25 },
];

/** Starts a model server that reports tokens, and the cost of the fourth answer. */
async function config(): Promise<object> {
  let answers = 0;
  upstream = createServer((request, response: ServerResponse) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const usage = reports[answers % reports.length];
      answers += 1;
      const chunk = (fields: object) =>
        response.write(`data: ${JSON.stringify({ id: `a${answers}`, ...fields })}\n\n`);
      chunk({ choices: [{ index: 0, delta: { role: "assistant", content: `Answer ${answers}.` } }] });
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage });
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => upstream?.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  const prices = { input: 10, cachedInput: 1, output: 100 };
  return {
    store: { folder: ".parley", durable: false },
    titleModel: "none",
    models: {
      priced: {
        kind: "compatible",
        baseUrl: `http://127.0.0.1:${port}/v1`,
        models: [
          { name: "one", contextWindow: 128_000, prices },
          { name: "two", contextWindow: 128_000, prices },
        ],
      },
    },
  };
}

const usageOf = (tab: Tab) => tab.page.getByRole("region", { name: "Usage", exact: true });

async function openUsage(tab: Tab): Promise<void> {
  await tab.composer.waitFor();
  await tab.page.keyboard.press("Control+k");
  await tab.page.getByRole("combobox").fill("usage");
  await tab.page.keyboard.press("Enter");
}

describePage("the page with a model that has prices", config, (site) => {
  it("says that there is nothing to sum yet, and why sums could not be read", async () => {
    const tab = await site().open();
    const usage = usageOf(tab);
    await openUsage(tab);
    await usage.getByText("No calls in these days").waitFor();
    tab.allow(/status of 403/);
    await tab.page.route(/\/usage\?/, (route) => route.fulfill({ status: 403, json: { code: "forbidden" } }));
    await usage.getByRole("button", { name: "Models" }).click();
    await usage.getByText("The usage could not be read.").waitFor();
    await tab.page.unroute(/\/usage\?/);
    await usage.getByRole("button", { name: "Try again" }).click();
    await usage.getByText("The usage could not be read.").waitFor({ state: "detached" });
  });

  it("shows cost by message, turn and call, what a broken prefix cost, and the sums", async () => {
    const tab = await site().open();
    const id = await tab.begin("First");
    await tab.ended(1);
    await tab.send("Second");
    await tab.ended(2);
    // Another model ends the cache.
    await site().ask("PUT", `/conversations/${id}/model`, { model: "priced/two" });
    await tab.send("Third");
    await tab.ended(3);
    // 4,000 x 10 + 100 x 100; 2,000 x 10 + 4,000 x 1 + 100 x 100; 8,000 x 10 + 100 x 100, for a million each.
    for (const cost of ["≈$0.05", "≈$0.034", "≈$0.09"]) {
      await tab.log.getByText(`· ${cost} ·`).waitFor({ state: "attached" });
    }

    await tab.button("Open the inspector").click();
    const inspector = tab.page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByText("≈$0.09, estimated", { exact: true }).first().waitFor();
    await inspector.getByText("Prefix broken").waitFor();
    await inspector
      .getByText("4,000 tokens had been in the cache and were charged in full, which cost about $0.036 more.")
      .waitFor();

    await tab.send("Fourth");
    await tab.ended(4);
    await inspector.getByText("$0.25, as billed", { exact: true }).first().waitFor();
    await tab.button("Close the inspector").click();

    await openUsage(tab);
    const usage = usageOf(tab);
    await usage.getByText("≈$0.42", { exact: true }).first().waitFor();
    await usage.getByRole("button", { name: "Models" }).click();
    const rows = usage.getByRole("region", { name: "Usage by model" }).getByRole("row");
    await rows.filter({ hasText: "priced/two" }).getByText("≈$0.34").waitFor();
    expect(await rows.count()).toBe(3);
  });
});
