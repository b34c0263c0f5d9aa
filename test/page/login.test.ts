import type { CreateKeyResponse } from "@parley/wire";
import { expect, it } from "vitest";
import { describePage } from "./site.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };
let key = "";

describePage(
  "the page of a server that asks for a key",
  quick,
  (site) => {
    it("asks for it, refuses a wrong one, and lets in with a right one until one logs out", async () => {
      const tab = await site().open("/c/anything");
      tab.allow(/status of 401/);
      await tab.page.getByRole("heading", { name: "Log in to Parley" }).waitFor();
      const field = tab.page.getByLabel("API key");
      await tab.button("Log in").click();
      await tab.page.getByText("Paste a key first.").waitFor();
      await field.fill("pk_not-a-key-of-this-server");
      await field.press("Enter");
      await tab.page.getByText("The server does not know this key.").waitFor();

      await field.fill(key);
      await field.press("Enter");
      tab.allowMissing();
      await tab.page.getByText("There is no such conversation").waitFor();
      await tab.button("Start a new one").click();
      await tab.begin("hello there");
      await tab.ended(1);
      // The key itself is nowhere that a script could read it.
      const readable = await tab.page.evaluate(
        () => document.cookie + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }),
      );
      expect(readable).not.toContain(key);
      expect(await tab.context.cookies()).toEqual([
        expect.objectContaining({ httpOnly: true, sameSite: "Strict" }),
      ]);

      await tab.page.reload();
      await tab.log.getByText("demo model").first().waitFor();
      await tab.button("Settings").click();
      await tab.page.getByRole("menuitem", { name: /^Log out/ }).click();
      await tab.page.getByRole("heading", { name: "Log in to Parley" }).waitFor();
      expect(await tab.context.cookies()).toEqual([]);
    });

    it("goes back to the login when the key is revoked, and lets in with another one", async () => {
      const authorization = `Bearer ${key}`;
      const made = await fetch(`${site().url}/keys`, {
        method: "POST",
        body: JSON.stringify({}),
        headers: { authorization, "content-type": "application/json" },
      });
      const second = (await made.json()) as CreateKeyResponse;
      const tab = await site().open();
      tab.allow(/status of 401/, /WebSocket connection/);
      await tab.page.getByLabel("API key").fill(second.secret);
      await tab.page.keyboard.press("Enter");
      await tab.composer.waitFor();
      await fetch(`${site().url}/keys/${second.key.id}`, { method: "DELETE", headers: { authorization } });
      await tab.page.getByRole("heading", { name: "Log in to Parley" }).waitFor();

      await tab.page.getByLabel("API key").fill(key);
      await tab.page.keyboard.press("Enter");
      await tab.begin("hello again");
      await tab.ended(1);
    });
  },
  async (workplace) => {
    key = (await workplace.json<CreateKeyResponse>("keys", "create")).secret;
  },
);
