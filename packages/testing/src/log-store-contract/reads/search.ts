import { findTerms, parseSearch, searchableText, searchedBytes } from "@parley/core/messages";
import { check, checkEqual } from "../../contract-case.js";
import { randomLog } from "../random-log.js";
import {
  callingMessage,
  message,
  resultMessage,
  type Scenario,
  type TopicCase,
  uniqueId,
} from "../scenario.js";

/** Searches before anything is in the index, and again when everything is. */
async function twice(s: Scenario, look: (when: string) => Promise<void>): Promise<void> {
  await look("before it is in the index");
  await s.index();
  await look("by the index");
}

/** Returns the conversations that a search finds, by their places in a list. */
async function places(s: Scenario, q: string, ids: readonly string[]): Promise<string[]> {
  const hits = await s.found(q);
  return hits.map(({ conversationId, seq }) => `${ids.indexOf(conversationId)}:${seq}`).toSorted();
}

/** Cases of search: the result is the same with and without the index. */
export const searchCases: readonly TopicCase[] = [
  {
    name: "messages are found by their words, of any case, with a piece of the text",
    async run(s) {
      const id = uniqueId();
      await s.turn(id, "Where do Capybaras sleep at night?");
      const long = `${"padding ".repeat(500)}needle capybaras ${"padding ".repeat(500)}`;
      await s.turn(id, long);
      const { conversationId: other } = await s.turn(uniqueId(), "Nothing to see");
      await twice(s, async (when) => {
        const hits = await s.found("capybaras");
        checkEqual(
          hits.map(({ seq }) => seq),
          [4, 3, 2, 1],
          `the seqs of the hits, ${when}`,
        );
        const asked = hits.find(({ seq }) => seq === 1);
        checkEqual([asked?.conversationId, asked?.role], [id, "user"], "where a hit is");
        checkEqual(asked?.title, (await s.store.get(id))?.title, "its title");
        check((asked?.createdAt ?? 0) > 0, "it has a time");
        for (const hit of hits) {
          check(hit.snippet.toLowerCase().includes("capybaras"), "the piece of text shows the word");
          check(hit.snippet.length < 1_000, "it is a piece");
        }
        const both = await s.found("NEEDLE capybaras");
        checkEqual(
          both.map(({ seq }) => seq),
          [4, 3],
          `all words are wanted, ${when}`,
        );
        checkEqual(await s.found("capybaras elephants"), [], "one word missing");
        checkEqual((await s.found("capybaras", { limit: 3 })).length, 3, "the limit");
        checkEqual(await s.found("capybaras", { conversationId: other }), [], "in another conversation");
        checkEqual((await s.found("capybaras", { conversationId: id })).length, 4, "in this one");
        for (const q of ["", "   ", "'\"&|!():*", "\\"]) {
          checkEqual(await s.found(q), [], `a search for ${JSON.stringify(q)}`);
        }
      });
    },
  },
  {
    name: "the last word may be unfinished, unless something follows it",
    async run(s) {
      const { conversationId: id } = await s.turn(uniqueId(), "the categories of aardvarks");
      await twice(s, async (when) => {
        checkEqual(await places(s, "the categ", [id]), ["0:1", "0:2"], `the beginning of a word, ${when}`);
        checkEqual(await places(s, "categories aard", [id]), ["0:1", "0:2"], `behind a whole one, ${when}`);
        for (const q of ["categ ", "categ aardvarks", "gories"])
          checkEqual(await s.found(q), [], `${JSON.stringify(q)}, ${when}`);
      });
    },
  },
  {
    name: "Chinese, Japanese and Korean are found by pieces of any length, and characters whatever their form",
    async run(s) {
      const id = uniqueId();
      await s.turn(id, "昨日、東京都で黒猫を見ました。Zu\u0308rich ｶﾞｲﾄﾞ 𠮷野家");
      await s.turn(id, "한국어검색은 어렵다. ZÜRICH");
      await twice(s, async (when) => {
        for (const q of ["東京", "京都で黒猫", "猫", "を", "ガイド", "𠮷", "東京 zür"])
          checkEqual(await places(s, q, [id]), ["0:1", "0:2"], `${q}, ${when}`);
        for (const q of ["검색", "국어", "어렵"])
          checkEqual(await places(s, q, [id]), ["0:3", "0:4"], `${q}, ${when}`);
        checkEqual((await s.found("Zürich")).length, 4, `composed or not, ${when}`);
        for (const q of ["京東", "猫黒"]) checkEqual(await s.found(q), [], `${q}, ${when}`);
      });
    },
  },
  {
    name: "titles are found where no message of the conversation is, as they are now",
    async run(s) {
      const [first, second] = [uniqueId(), uniqueId()];
      await s.start(first, { title: "Ocelots and others", text: "Hello" });
      await s.turn(second, "ocelots");
      await s.store.set(second, { title: "Ocelots as well" });
      await twice(s, async (when) => {
        checkEqual(await places(s, "ocelo", [first, second]), ["0:0", "1:1", "1:2"], `the hits, ${when}`);
        const [hit] = (await s.found("others")).map(({ createdAt: _, ...rest }) => rest);
        const title = "Ocelots and others";
        checkEqual(hit, { conversationId: first, title, seq: 0, snippet: title }, `the hit, ${when}`);
        checkEqual(await s.found("others", { conversationId: first }), [], "within the conversation");
      });
      await s.store.set(first, { title: "Margays" });
      await twice(s, async (when) => {
        checkEqual(await s.found("others"), [], `the title that it had, ${when}`);
        checkEqual(await places(s, "margays", [first]), ["0:0"], `the one that it has, ${when}`);
      });
      await s.store.remove(first, { cascade: false });
      checkEqual(await s.found("margays"), [], "the title of a removed one");
    },
  },
  {
    name: "what a running turn adds is found, also where the index has gone past it",
    async run(s) {
      const turn = await s.start(uniqueId(), { text: "A question about tapirs" });
      const id = turn.conversationId;
      await s.index();
      await s.commit(turn, [callingMessage(id, "call")]);
      checkEqual(await places(s, "look", [id]), ["0:2"], "after a step");
      await s.index();
      await s.turn(uniqueId(), "Something else");
      await s.index();
      await s.commit(turn, [resultMessage(id, "call")]);
      await s.seal(turn, [message(id, { role: "assistant", text: "Here they are, the tapirs" })]);
      await twice(s, async (when) => {
        checkEqual(await places(s, "tapirs", [id]), ["0:1", "0:5"], `after the seal, ${when}`);
      });
    },
  },
  {
    name: "a search within a fork finds what it inherited, and nothing past its point",
    async run(s) {
      const id = uniqueId();
      await s.turn(id, "axolotl");
      await s.turn(id, "pangolin");
      const newId = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 2, newId });
      const within = async (q: string) =>
        (await s.found(q, { conversationId: newId })).map((hit) => hit.conversationId);
      await twice(s, async (when) => {
        checkEqual(await within("axolotl"), [newId, newId], `what it inherited, ${when}`);
        checkEqual(await within("pangolin"), [], `what it did not, ${when}`);
      });
    },
  },
  {
    name: "what forks show of removed conversations is found, once, in the nearest that shows it",
    async run(s) {
      const ids = [uniqueId(), uniqueId(), uniqueId(), uniqueId()] as const;
      const [first, early, late, last] = ids;
      await s.turn(first, "quokka one");
      await s.turn(first, "quokka two");
      await s.index();
      await s.turn(first, "quokka three");
      await s.turn(first, "quokka four");
      await s.store.fork({ conversationId: first, atSeq: 2, newId: early, title: "Early" });
      await s.store.fork({ conversationId: first, atSeq: 6, newId: late });
      await s.turn(late, "quokka five");
      await s.store.fork({ conversationId: late, atSeq: 4, newId: last, title: "Last" });
      const found = () => places(s, "quokka", ids);
      const of = (log: number, seqs: readonly number[]) => seqs.map((seq) => `${log}:${seq}`);
      checkEqual(
        await found(),
        [...of(0, [1, 2, 3, 4, 5, 6, 7, 8]), ...of(2, [7, 8])],
        "while all of them live",
      );
      await s.store.remove(late, { cascade: false });
      await twice(s, async (when) => {
        checkEqual(await found(), of(0, [1, 2, 3, 4, 5, 6, 7, 8]), `what the origin shows, ${when}`);
      });
      await s.store.remove(first, { cascade: false });
      await twice(s, async (when) => {
        checkEqual(await found(), [...of(1, [1, 2]), ...of(3, [3, 4])], `what forks still show, ${when}`);
        const [hit] = await s.found("quokka two", { limit: 1 });
        checkEqual([hit?.title, hit?.seq], ["Last", 4], "the title and the place of a hit");
      });
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      checkEqual(await stranger.search({ q: "quokka", limit: 5 }), { hits: [] }, "what another owner finds");
      await s.store.remove(early, { cascade: false });
      checkEqual(await found(), of(3, [1, 2, 3, 4]), "without the nearest, the next one shows it");
      await s.store.remove(last, { cascade: false });
      await twice(s, async (when) => checkEqual(await found(), [], `what no conversation shows, ${when}`));
    },
  },
  {
    name: "a piece of text never begins or ends within a character",
    async run(s) {
      const { conversationId: id } = await s.turn(uniqueId(), `${"🙂".repeat(80)}bilby${"🙂".repeat(80)}`);
      await twice(s, async (when) => {
        for (const { snippet } of await s.found("bilby", { conversationId: id })) {
          check(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(snippet), `its end, ${when}`);
          check(!/(?<![\ud800-\udbff])[\udc00-\udfff]/.test(snippet), `its beginning, ${when}`);
          check(snippet.includes("bilby"), "the word is in it");
        }
      });
    },
  },
  {
    name: "of a long message the first 100 KB are found",
    async run(s) {
      const { conversationId: id } = await s.turn(
        uniqueId(),
        `wombat ${"é ".repeat(searchedBytes / 3 - 10)} numbat ${"é ".repeat(100)} dingo`,
      );
      await twice(s, async (when) => {
        checkEqual(await places(s, "wombat", [id]), ["0:1", "0:2"], `its beginning, ${when}`);
        checkEqual((await s.found("numbat")).length > 0, true, `what is near the bound, ${when}`);
        checkEqual(await s.found("dingo"), [], `what is behind it, ${when}`);
      });
    },
  },
  {
    name: "an owner is behind until the index has everything, and nothing is added twice",
    async run(s) {
      const isBehind = async () => {
        for (let after: string | undefined; ; ) {
          const { owners, next } = await s.root.unindexedOwners(after === undefined ? {} : { after });
          if (owners.includes(s.owner)) return true;
          if (next === undefined) return false;
          check(next > (after ?? ""), "a page leads to the next one");
          after = next;
        }
      };
      const { conversationId: id } = await s.turn(uniqueId(), "kinkajou");
      const wasBehind = await isBehind();
      const added = await s.index();
      checkEqual(await s.index(), 0, "what is added the second time");
      checkEqual(await isBehind(), false, "whether it is behind");
      // A store without an index is never behind.
      checkEqual(wasBehind, added > 0, "whether it was");
      const other = { owner: `stranger-${uniqueId()}`, limit: 5 };
      checkEqual(await s.root.indexSearch(other), { indexed: 0, more: false }, "an owner without anything");
      await s.store.remove(id, { cascade: false });
      checkEqual(await s.index(), 0, "what is added of a removed one");
    },
  },
  {
    name: "two that fill the index at once add everything once",
    twoHandles: true,
    async run(s) {
      const ids: string[] = [];
      for (let count = 0; count < 6; count++) ids.push((await s.turn(uniqueId(), "numbats")).conversationId);
      const fill = async (root: typeof s.root) => {
        let total = 0;
        for (let call = 0; call < 20; call++) {
          total += (await root.indexSearch({ owner: s.owner, limit: 2 })).indexed;
        }
        return total;
      };
      const [here, there] = await Promise.all([fill(s.root), fill(s.second)]);
      const rest = await s.index();
      // A title and two messages of each.
      check([0, ids.length * 3].includes(here + there + rest), `added ${here}, ${there} and ${rest}`);
      checkEqual((await s.found("numbats")).length, ids.length * 2, "the hits");
    },
  },
  {
    name: "any log is found message by message as it reads, whenever the index was filled",
    async run(s) {
      for (let seed = 1; seed <= 6; seed++) {
        const id = await randomLog(s, seed);
        const entries = await s.log(id);
        for (const q of ["a", "zeile zw", "日本", "語", "mark", "json", "look", "answer"]) {
          const wanted = parseSearch(q);
          const expected = entries
            .filter(({ message: said }) => findTerms(searchableText(said), wanted) !== undefined)
            .map(({ firstSeq }) => firstSeq);
          const found = async () =>
            (await s.found(q, { conversationId: id })).map(({ seq }) => seq).reverse();
          const everywhere = await places(s, q, [id]);
          checkEqual(await found(), expected, `${q} in log ${seed}`);
          if (seed % 2 === 0) await s.root.indexSearch({ owner: s.owner, limit: 2 });
          checkEqual(await found(), expected, `${q} in log ${seed}, a little later`);
          checkEqual(await places(s, q, [id]), everywhere, `${q} in all logs`);
        }
        await twice(s, async () => checkEqual((await s.log(id)).length, entries.length, "the log"));
      }
    },
  },
];
