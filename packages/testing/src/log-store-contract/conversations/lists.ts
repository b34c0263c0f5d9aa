import { omitUndefined } from "@parley/fold";
import { check, checkEqual } from "../../contract-case.js";
import { message, refused, type TopicCase, uniqueId } from "../scenario.js";
import { created, idsOf } from "./conversations.js";

/** Cases of pins, and of the order and the filters of lists. */
export const listCases: readonly TopicCase[] = [
  {
    name: "pinned conversations come first where that is asked for, however old they are, page by page",
    async run(s) {
      const [a = "", b = "", c = "", d = "", e = "", f = ""] = await created(s, "a", "b", "c", "d", "e", "f");
      for (const id of [a, c, d]) await s.store.set(id, { pinned: true });
      await s.turn(a);
      const pages = async (
        limit: number,
        more: { q?: string; pinnedFirst?: boolean } = { pinnedFirst: true },
      ) => {
        const listed: string[] = [];
        let before: string | undefined;
        for (let page = 0; page < 10; page++) {
          const { conversations, next } = await s.store.list({
            limit,
            ...more,
            ...omitUndefined({ before }),
          });
          check(conversations.length <= limit, "a page is no longer than asked for");
          listed.push(...conversations.map(({ id }) => id));
          if (next === undefined) break;
          before = next;
        }
        return listed;
      };
      const expected = [a, d, c, f, e, b];
      for (const limit of [1, 2, 3, 4, 10])
        checkEqual(await pages(limit), expected, `pinned first, in pages of ${limit}`);
      checkEqual(await pages(2, {}), [a, f, e, d, c, b], "without a word about pins");
      const { conversations } = await s.store.list({ limit: 10, pinnedFirst: true });
      checkEqual(conversations[0], await s.store.get(a), "a listed conversation");
      checkEqual(
        conversations.map(({ pinned }) => pinned === true),
        [true, true, true, false, false, false],
        "which are pinned",
      );
      await s.store.set(d, { closed: true });
      const open = await s.store.list({ limit: 10, pinnedFirst: true, status: ["idle", "active"] });
      checkEqual(idsOf(open), [a, c, f, e, b], "without the closed ones");
      await s.store.set(c, { pinned: null });
      checkEqual(await pages(2), [a, d, f, e, c, b], "once one is pinned no more");
      const first = await s.store.list({ limit: 1, pinnedFirst: true });
      await refused(
        s.store.list({ limit: 1, before: first.next ?? "" }),
        "invalid_request",
        "in another list",
      );
      for (const id of [a, d]) await s.store.set(id, { pinned: null });
      checkEqual(await pages(4), [a, f, e, d, c, b], "without any pin");
      checkEqual(await pages(2, { q: "nothing", pinnedFirst: true }), [], "nothing");
    },
  },
  {
    name: "a pin belongs to its owner, and ends with the conversation",
    async run(s) {
      const [id = ""] = await created(s, "a");
      await s.store.set(id, { pinned: true });
      const stranger = s.root.forOwner(uniqueId());
      await stranger.create({ id, settings: {} });
      checkEqual((await stranger.get(id))?.pinned, undefined, "of another owner's");
      await stranger.remove(id, { cascade: true });
      await s.store.remove(id, { cascade: false });
      const { conversation } = await s.store.create({ id, settings: {} });
      checkEqual(conversation.pinned, undefined, "of another one under its id");
      checkEqual(idsOf(await s.store.list({ limit: 5, pinnedFirst: true })), [id], "the list");
    },
  },
  {
    name: "a list can be narrowed to the conversations that would use a model",
    async run(s) {
      const [own = "", none = "", last = "", other = ""] = await created(s, "own", "none", "last", "other");
      await s.store.set(own, { model: "a/one" });
      for (const id of [last, other]) {
        const turn = await s.start(id, { choices: { model: "a/one" } });
        await s.seal(turn, [message(id, { role: "assistant" })]);
      }
      await s.store.set(other, { model: "a/two" });
      const found = async (query: { model: string; defaultModel?: string; q?: string }) =>
        idsOf(await s.store.list({ limit: 10, ...query })).toSorted();
      checkEqual(await found({ model: "a/one" }), [own, last].toSorted(), "by their own, or the last turn's");
      checkEqual(await found({ model: "a/two" }), [other], "their own counts first");
      checkEqual(await found({ model: "a/one", q: "last" }), [last], "and by title");
      checkEqual(await found({ model: "a" }), [], "a part of a name");
      const defaultModel = "a/one";
      checkEqual(
        await found({ model: "a/one", defaultModel }),
        [own, none, last].toSorted(),
        "where it is the default",
      );
      checkEqual(await found({ model: "a/two", defaultModel }), [other], "another one than the default");
      await s.store.set(last, { pinned: true });
      const query = { model: "a/one", defaultModel, pinnedFirst: true, limit: 1 };
      const listed: string[] = [];
      for (let before: string | undefined, page = 0; page < 5; page++) {
        const { conversations, next } = await s.store.list({ ...query, ...omitUndefined({ before }) });
        listed.push(...conversations.map(({ id }) => id));
        before = next;
        if (next === undefined) break;
      }
      checkEqual([listed[0], listed.toSorted()], [last, [own, none, last].toSorted()], "page by page");
    },
  },
];
