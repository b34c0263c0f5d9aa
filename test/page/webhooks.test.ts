import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, it } from "vitest";
import { describePage } from "./site.js";
import { patience } from "./tab.js";

interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

const received: Received[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => {
    received.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(request.url === "/gone" ? 410 : 204).end();
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function config(): Promise<object> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    store: { folder: ".parley", durable: false },
    models: { demo: { kind: "demo", pace: "instant" } },
    webhooks: { privateAddresses: ["127.0.0.1"] },
  };
}

const address = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

describePage("the webhooks of the settings", config, (site) => {
  it("are added with a secret that verifies, tested, and removed", async () => {
    const tab = await site().open();
    // One address is refused on purpose.
    tab.allow(/status of 400 \(Bad Request\) \(\S+\/webhooks\)$/);
    await tab.button("Settings").click();
    await tab.page.getByRole("menuitem", { name: "All settings" }).click();
    await tab.page
      .getByRole("navigation", { name: "Settings" })
      .getByRole("link", { name: "Webhooks" })
      .click();
    const dialog = tab.page.getByRole("region", { name: "Webhooks" });
    await dialog.getByText("There are none yet.").waitFor();
    const add = async (url: string, label: string) => {
      await dialog.getByRole("textbox", { name: "Address" }).fill(url);
      await dialog.getByRole("textbox", { name: "Label" }).fill(label);
      await dialog.getByRole("button", { name: "Add" }).click();
    };
    await add("http://10.0.0.1/", "Private");
    await dialog.getByText("10.0.0.1 is not a public address").waitFor();
    await add(address("/events"), "<b>Mine</b>");
    const entry = dialog.getByRole("listitem", { name: "<b>Mine</b>" });
    await entry.getByText("Enabled").waitFor();
    expect(await entry.locator("b").count()).toBe(0);
    const secret = (await dialog.locator("code", { hasText: "whsec_" }).textContent()) ?? "";
    await entry.getByRole("button", { name: "Test" }).click();
    await expect.poll(() => received.length, patience).toBe(1);
    const [first] = received;
    expect(new Webhook(secret).verify(first?.body ?? "", first?.headers ?? {})).toMatchObject({
      type: "webhook.test",
    });
    await tab.page.getByText("The webhook answered 204.").waitFor();
    await entry.getByRole("button", { name: "Disable" }).click();
    await entry.getByText("Disabled").waitFor();
    await entry.getByRole("button", { name: "Remove", exact: true }).click();
    await entry.getByRole("button", { name: "Remove permanently" }).click();
    await dialog.getByText("There are none yet.").waitFor();
  });
});
