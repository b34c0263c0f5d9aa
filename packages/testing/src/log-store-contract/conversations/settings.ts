import type { ConversationRecord, ConversationSettings } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import { type TopicCase, uniqueId } from "../scenario.js";
import { compacted } from "../turns/compaction.js";

/** Settings that can have any value. A temporary conversation is in no list, and has cases of its own. */
type Setting = Omit<ConversationSettings, "temporary">;

/** Every setting: a new one that is missing here does not compile. */
const every: Required<Setting> = {
  title: "A title",
  model: "test/model",
  reasoningEffort: "low",
  instructions: "Be brief.\u0000\ud800",
  compactThreshold: 1_234.5,
  metadata: { nested: { list: [1, "two", null, true] } },
  pinned: true,
};

/** Another value for each of them. */
const others: Required<Setting> = {
  title: "Another",
  model: "test/other",
  reasoningEffort: "max",
  instructions: "Go on.",
  compactThreshold: 0,
  metadata: {},
  pinned: true,
};

const names = Object.keys(every) as (keyof Setting)[];

function settingsOf(record: ConversationRecord): ConversationSettings {
  return Object.fromEntries(
    names.flatMap((name) => (record[name] === undefined ? [] : [[name, record[name]]])),
  );
}

/** Cases of a conversation's settings, through everything that writes or reads them. */
export const settingsCases: readonly TopicCase[] = [
  {
    name: "every setting is what it was set to, wherever the conversation is read",
    async run(s) {
      const id = uniqueId();
      const { conversation } = await s.store.create({ id, settings: every });
      checkEqual(settingsOf(conversation), every, "what was created");
      checkEqual(await s.store.get(id), conversation, "the record read");
      const { conversations } = await s.store.list({ limit: 10 });
      checkEqual(
        conversations.find((each) => each.id === id),
        conversation,
        "the record in the list",
      );
      const { conversations: changed } = await s.store.changed({
        since: conversation.changedAt - 1,
        limit: 10,
      });
      checkEqual(
        changed.find((each) => each.id === id),
        conversation,
        "the record among the changes",
      );
      const set = await s.store.set(id, others);
      checkEqual(settingsOf(set), others, "what was changed");
      checkEqual({ ...set, changedAt: 0, ...every }, { ...conversation, changedAt: 0 }, "and nothing else");
    },
  },
  {
    name: "each setting can be changed and cleared by itself",
    async run(s) {
      const id = uniqueId();
      await s.store.create({ id, settings: every });
      for (const name of names) {
        const set = await s.store.set(id, { [name]: others[name] });
        checkEqual(settingsOf(set), { ...every, [name]: others[name] }, `${name} changed`);
        const cleared = settingsOf(await s.store.set(id, { [name]: null }));
        const { [name]: _, ...rest } = every;
        checkEqual(cleared, name === "title" ? { ...rest, title: "" } : rest, `${name} cleared`);
        await s.store.set(id, { [name]: every[name] });
      }
    },
  },
  {
    name: "a fork, an archive and an import have every setting of their origin",
    async run(s) {
      const id = uniqueId();
      await s.store.create({ id, settings: every });
      await s.turn(id, "a");
      const newId = uniqueId();
      const { conversation: fork } = await s.store.fork({ conversationId: id, atSeq: 2, newId });
      checkEqual(settingsOf(fork), every, "the fork");
      const imported = await s.store.importConversation({
        conversationId: uniqueId(),
        settings: every,
        closed: false,
        createdAt: 1,
        lastActivityAt: 2,
        entries: [],
        turns: [],
      });
      checkEqual(settingsOf(imported.conversation), every, "the import");
      const { archiveId } = await compacted(s, id);
      const archive = await s.store.get(archiveId);
      check(archive !== null, "the archive can be read");
      if (archive !== null) checkEqual(settingsOf(archive), every, "the archive");
    },
  },
];
