import { afterAll, expect, it } from "vitest";
import { describePage } from "./site.js";
import { type Piece, Upstream } from "./upstream.js";

let upstream: Upstream | undefined;
afterAll(() => upstream?.end());

/** A model that does not respond, on a server that gives up on it soon. */
async function config(): Promise<object> {
  upstream = await Upstream.start(async function* (): AsyncIterable<Piece> {
    await new Promise(() => {});
    yield { text: "never" };
  });
  return {
    store: { folder: ".parley", durable: false },
    models: { silent: upstream.credential },
    limits: { firstContentMs: 8_000 },
  };
}

describePage("the page with a model that is silent", config, (site) => {
  it("says how long it has been waiting, also after a reload, and then which limit passed", async () => {
    const tab = await site().open();
    await tab.begin("Are you there?");
    await tab.log.getByText(/Waiting for the model · [3-9]/).waitFor();
    await tab.page.reload();
    await tab.log.getByText(/Waiting for the model · [4-9]/).waitFor();
    await tab.ended(1);
    await tab.log.getByText("What was said exactly").click();
    await tab.log.getByText("limits.firstContentMs").waitFor();
    expect(upstream?.requests).toHaveLength(1);
  });
});
