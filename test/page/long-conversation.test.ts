import { expect, it } from "vitest";
import { asked, exportOf, said } from "./prepared-conversation.js";
import { describePage, type Site } from "./site.js";
import { patience, type Tab } from "./tab.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };
const count = 10_000;
const filling = "Some words that a message of this size has, again and again. ".repeat(8);

/** A conversation of 10,000 messages, about 5 MB of text: message n says "Word n." */
async function longConversation(site: Site): Promise<string> {
  const id = "long";
  const turns = Array.from({ length: count / 2 }, (_, turn) => [
    asked(`Word ${2 * turn + 1}. ${filling}`),
    said(`Word ${2 * turn + 2}. ${filling}`),
  ]);
  await site.import(exportOf({ id, title: "A very long conversation" }, turns));
  return id;
}

/** Records the requests of the page for a conversation, and the bytes of the answers before compression. */
async function listen(tab: Tab, id: string): Promise<{ readonly requests: string[]; bytes(): number }> {
  const requests: string[] = [];
  let bytes = 0;
  // A request that the page gave up is not counted.
  tab.page.on("requestfinished", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith(`/conversations/${id}`)) requests.push(pathname + search);
  });
  await tab.page.route(
    (url) => url.pathname.startsWith(`/conversations/${id}`),
    async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      bytes += body.length;
      await route.fulfill({ response, body });
    },
  );
  return { requests, bytes: () => bytes };
}

const word = (tab: Tab, n: number) => tab.log.getByText(`Word ${n}.`, { exact: false }).first();

/** Returns true if a message is in view. */
async function isInView(tab: Tab, n: number): Promise<boolean> {
  const shown = await tab.log.boundingBox();
  const box = await word(tab, n)
    .boundingBox({ timeout: 50 })
    .catch(() => null);
  if (shown === null || box === null) return false;
  return box.y + box.height > shown.y && box.y < shown.y + shown.height;
}

/** Scrolls as a person does, until a message is in view. */
async function scrollTo(tab: Tab, n: number, step: number): Promise<void> {
  await tab.log.hover();
  for (let tries = 0; tries < 400 && !(await isInView(tab, n)); tries += 1) {
    await tab.page.mouse.wheel(0, step);
    await tab.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
  expect(await isInView(tab, n)).toBe(true);
}

/** The numbers of the messages that are drawn, in the order of the page. */
function drawn(tab: Tab): Promise<number[]> {
  return tab.log.evaluate((box) =>
    [...box.querySelectorAll("article")]
      .map(
        (row) => [row.getBoundingClientRect().top, /Word (\d+)\./.exec(row.textContent ?? "")?.[1]] as const,
      )
      .sort(([a], [b]) => a - b)
      .flatMap(([, n]) => (n === undefined ? [] : [Number(n)])),
  );
}

describePage("a conversation of 10,000 messages", quick, (site) => {
  it("is jumped into by pages, scrolled both ways from there, and left for its end", async () => {
    const id = await longConversation(site());
    const tab = await site().open("about:blank");
    const traffic = await listen(tab, id);
    await tab.page.goto(`${site().url}/c/${id}?seq=50`);
    await expect.poll(() => isInView(tab, 50), patience).toBe(true);
    await tab.page.waitForLoadState("networkidle");
    const history = () => traffic.requests.filter((request) => request.startsWith(`/conversations/${id}?`));
    // The newest page, the one around the place, and their turns' figures.
    expect(history()).toEqual([expect.stringContaining("limit="), expect.stringContaining("sinceSeq=0")]);
    expect(traffic.requests.length, traffic.requests.join(" ")).toBeLessThanOrEqual(8);
    expect(traffic.bytes()).toBeLessThan(700_000);

    // Down, beyond what was loaded with the jump, with nothing left out.
    await scrollTo(tab, 230, 700);
    const below = await drawn(tab);
    expect(below).toEqual(Array.from(below, (_, index) => (below[0] ?? 0) + index));
    // And up, to the first one.
    await scrollTo(tab, 1, -900);
    expect((await drawn(tab)).slice(0, 3)).toEqual([1, 2, 3]);
    expect(history().length).toBeLessThanOrEqual(5);

    await tab.button("Jump to latest").click();
    await expect.poll(() => isInView(tab, count), patience).toBe(true);
    await tab.button("Jump to latest").waitFor({ state: "detached" });
    // Up from the end, into the gap from its other side.
    await scrollTo(tab, count - 260, -700);
    const above = await drawn(tab);
    expect(above).toEqual(Array.from(above, (_, index) => (above[0] ?? 0) + index));
    expect(history().length).toBeLessThanOrEqual(8);
    expect(traffic.bytes()).toBeLessThan(2_000_000);

    // A message sent from the middle is shown at the end, once no page is being loaded.
    await tab.page.waitForLoadState("networkidle");
    await tab.send("Thank you");
    await tab.questions.getByText("Thank you").waitFor();
    expect(await tab.distanceFromEnd()).toBeLessThan(100);
  });
});
