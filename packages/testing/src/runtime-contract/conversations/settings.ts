import type { SealedTurn, WatchEvent } from "@parley/core/runtime";
import type { ConversationStatus } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { pause, text, toolCall, usage } from "../../provider/script.js";
import { createScriptedProvider } from "../../provider/scripted-provider.js";
import { adder } from "../turns/turns.js";
import { always, only, type RuntimeTopicCase, testModel } from "../world.js";

/** Cases of a turn's settings, of the events around it, and of access to it. */
export const settingsCases: RuntimeTopicCase[] = [
  {
    name: "effort and instructions come from the turn, else the conversation, else the configuration",
    async run(world) {
      const node = await world.node({ instructions: "From the configuration." });
      const conversationId = world.id("c");
      const last = () => {
        const params = node.provider.calls.at(-1)?.params;
        const [first] = params?.messages ?? [];
        return [params?.reasoningEffort, first?.role === "system" ? first.content[0]?.text : undefined];
      };
      await world.turn(node, "1", { conversationId });
      checkEqual(last(), ["high", "From the configuration."], "by default");
      await node.me.set(conversationId, { reasoningEffort: "low", instructions: "From the conversation." });
      await world.turn(node, "2", { conversationId });
      checkEqual(last(), ["low", "From the conversation."], "the conversation's");
      await world.turn(node, "3", { conversationId, reasoningEffort: "max", instructions: "From the turn." });
      checkEqual(last(), ["max", "From the turn."], "the turn's");
      await world.turn(node, "4", { conversationId });
      checkEqual(last(), ["low", "From the conversation."], "the turn's is for one turn");
      await node.me.set(conversationId, { reasoningEffort: null, instructions: null });
      await world.turn(node, "5", { conversationId });
      checkEqual(last(), ["high", "From the configuration."], "back to the default");
      const log = await world.log(node, conversationId);
      check(
        log.every(({ role }) => role !== "system"),
        "instructions are no rows of the log",
      );
    },
  },
  {
    name: "the model comes from the turn, else the conversation, else the default; one that is gone fails the turn",
    async run(world) {
      const two = createScriptedProvider(() => [text("I am two."), usage(3, 3)]);
      const node = await world.node({ moreModels: [testModel("two", two, { maxOutputTokens: 77 })] });
      const conversationId = world.id("c");
      await world.turn(node, "1", { conversationId });
      const { events } = await world.turn(node, "2", { conversationId, model: "test/two" });
      checkEqual([node.provider.calls.length, two.calls.length], [1, 1], "calls of the models");
      checkEqual(two.calls[0]?.params.maxTokens, 77, "the most it may write");
      checkEqual(only(events, "turn-start").model, "test/two", "the model that is published");
      await node.me.set(conversationId, { model: "test/two" });
      await world.turn(node, "3", { conversationId });
      checkEqual(two.calls.length, 2, "calls of the conversation's model");
      const bad = [
        () => node.me.send({ conversationId, message: "4", model: "test/none" }),
        () => node.me.set(conversationId, { model: "test/none" }),
        () => node.me.create({ model: "test/none" }),
      ];
      for (const call of bad) {
        const code = await world.refusal((async () => call())(), "an unknown model");
        checkEqual(code, "model_unavailable", "the code");
      }
      // Another node of the same store, whose configuration has lost the model.
      const poorer = await world.node();
      const { events: failed } = await world.turn(poorer, "5", { conversationId });
      checkEqual(only(failed, "error").code, "model_unavailable", "the error");
      const settings = await poorer.me.settings(conversationId);
      checkEqual([settings.model, settings.defaultThreshold], ["test/two", undefined], "the settings");
      const next = await world.turn(poorer, "6", { conversationId, model: "test/one" });
      checkEqual(only(next.events, "done").reason, "stop", "a turn with a model that is there");
    },
  },
  {
    name: "an answer may be as long as the model can write, as long as it fits in the window with its request",
    async run(world) {
      const contextWindow = 4_000;
      const two = createScriptedProvider(() => [text("I am two.")]);
      const model = testModel("two", two, { maxOutputTokens: 3_000, contextWindow });
      const node = await world.node({ moreModels: [model], compactAt: 0 });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId, model: "test/two" });
      const sizes: number[] = [];
      for (const words of [1, 1_000, 1_000, 1_000]) {
        const { receipt } = await world.turn(node, "word ".repeat(words), { conversationId });
        const { providerCalls } = await node.me.turn(conversationId, receipt.turnId);
        sizes.push(providerCalls[0]?.manifest?.estimatedTokens ?? 0);
      }
      const asked = two.calls.map(({ params }) => params.maxTokens ?? 0);
      checkEqual(asked[0], 3_000, "the most it may write");
      for (const [index, most] of asked.entries()) {
        check((sizes[index] ?? 0) + most <= contextWindow, `request ${index} and its answer fit`);
        check(most >= contextWindow / 4, `answer ${index} has its share`);
      }
      check((asked.at(-1) ?? 0) < 3_000, "a long request leaves less");
    },
  },
  {
    name: "watchers receive active, idle and closed, the queue, and what to open",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("A"), pause(at)) });
      const received: WatchEvent[] = [];
      const stop = await node.me.watch((event) => received.push(event));
      await node.me.watch(() => {
        throw new Error("a careless watcher");
      });
      const stranger: WatchEvent[] = [];
      await node.runtime.forOwner(world.id("owner")).watch((event) => stranger.push(event));
      const statuses = () =>
        received.flatMap((event): ConversationStatus[] =>
          event.type === "conversation.statusChanged" ? [event.status] : [],
        );
      const { conversationId } = await world.start(node, "Hi");
      await world.until(() => statuses().at(-1) === "active", "active is published");
      await node.me.queue.add({ conversationId, message: "later" });
      await world.until(
        () => received.some(({ type }) => type === "queue.changed"),
        "the queue is published",
      );
      await node.me.stop(conversationId);
      await world.until(() => statuses().at(-1) === "idle", "idle is published");
      await node.me.close(conversationId);
      await world.until(() => statuses().at(-1) === "closed", "closed is published");
      await node.me.open(conversationId);
      await world.until(
        () => received.some(({ type }) => type === "conversation.open") && statuses().at(-1) === "idle",
        "opening is published",
      );
      await node.me.remove(conversationId);
      await world.until(
        () => received.some(({ type }) => type === "conversation.removed"),
        "removing is published",
      );
      checkEqual(
        received.filter(({ type }) => type === "conversation.open").length,
        1,
        "how often the request to show it is received",
      );
      checkEqual(stranger, [], "what another owner receives");
      check(
        node.errors.some(({ where }) => where === "watch"),
        "the careless watcher is reported",
      );
      stop();
    },
  },
  {
    name: "a title is the first message, shortened, until someone sets another",
    async run(world) {
      const node = await world.node();
      const long = `  What   is\nthe ${"very ".repeat(40)}long answer?`;
      const { receipt } = await world.turn(node, long);
      const { title } = await node.me.meta(receipt.conversationId);
      check(title.startsWith("What is the very") && title.endsWith("…"), `the title "${title}"`);
      checkEqual(Array.from(title).length <= 80, true, "its length");
      await node.me.set(receipt.conversationId, { title: "Mine" });
      await world.turn(node, "Another message", { conversationId: receipt.conversationId });
      checkEqual((await node.me.meta(receipt.conversationId)).title, "Mine", "the title that was set");
      const named = world.id("c");
      await node.me.create({ id: named, title: "Given" });
      await world.turn(node, "Hello", { conversationId: named });
      checkEqual((await node.me.meta(named)).title, "Given", "the title that it was created with");
    },
  },
  {
    name: "with a title model the first turn names the conversation, unless someone has",
    async run(world) {
      const asked = gate();
      const namer = createScriptedProvider(() => [pause(asked), text(" A Fine Name \n")]);
      const node = await world.node({ moreModels: [testModel("namer", namer)], titleModel: "test/namer" });
      const { receipt } = await world.turn(node, "Hello there");
      const { conversationId } = receipt;
      await world.pass(asked.reached, "the model is asked for a name");
      checkEqual((await node.me.meta(conversationId)).title, "Hello there", "the title meanwhile");
      asked.open();
      let title = "";
      await world.until(() => {
        void node.me.meta(conversationId).then((meta) => {
          title = meta.title;
        });
        return title === "A Fine Name";
      }, "the name is there");
      await world.turn(node, "More", { conversationId });
      const named = world.id("c");
      await node.me.create({ id: named, title: "Given" });
      await world.turn(node, "Hello", { conversationId: named });
      await world.advance(100);
      checkEqual(namer.calls.length, 1, "how often it was asked");
    },
  },
  {
    name: "with a title model the first turn names a conversation that an engine began, too",
    async run(world) {
      const namer = createScriptedProvider(() => [text("A Fine Name")]);
      const node = await world.node({ moreModels: [testModel("namer", namer)], titleModel: "test/namer" });
      const store = world.store(world.owner);
      const { id } = await store.createConversation({ id: world.id("c") });
      const said = (role: "user" | "assistant", words: string) => ({
        id: world.id("m"),
        conversationId: id,
        role,
        createdAt: new Date(1_700_000_000_000),
        content: [{ type: "text" as const, text: words }],
      });
      const [question, answer] = [said("user", "From an engine"), said("assistant", "Yes.")];
      await store.appendMessages([question, answer]);
      await store.appendTurn({
        id: world.id("t"),
        conversationId: id,
        createdAt: new Date(1_700_000_000_000),
        userMessages: [question],
        assistantMessages: [answer],
        providerCalls: [],
      });
      checkEqual((await node.me.meta(id)).title, "From an engine", "the title at first");
      await world.turn(node, "And now here", { conversationId: id });
      let title = "";
      await world.until(() => {
        void node.me.meta(id).then((meta) => {
          title = meta.title;
        });
        return title === "A Fine Name";
      }, "the name is there");
      await world.turn(node, "More", { conversationId: id });
      await world.advance(100);
      checkEqual(namer.calls.length, 1, "how often it was asked");
    },
  },
  {
    name: "the hook runs after the seal, and one that throws is reported and changes nothing",
    async run(world) {
      const ended: SealedTurn[] = [];
      const node = await world.node({
        hooks: {
          afterTurn(turn) {
            ended.push(turn);
            throw new Error("a careless hook");
          },
          onError() {
            throw new Error("a careless reporter");
          },
        },
      });
      const { receipt } = await world.turn(node);
      const { conversationId, turnId } = receipt;
      await world.until(() => node.errors.length > 0, "the throw is reported");
      checkEqual(
        ended,
        [{ owner: world.owner, conversationId, turnId, reason: "stop", firstSeq: 1, lastSeq: 2 }],
        "what the hook was given",
      );
      checkEqual(
        node.errors.map(({ where }) => where),
        ["afterTurn"],
        "where it went wrong",
      );
      const next = await world.turn(node, "More", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
    },
  },
  {
    name: "two owners run and follow conversations of the same ids on one node, each its own",
    async run(world) {
      const held = gate();
      const node = await world.node({
        script: (_, index) => [text(`Answer ${index} `), pause(held), text("ends.")],
      });
      const conversationId = world.id("c");
      const messageId = world.id("m");
      const stranger = node.runtime.forOwner(world.id("owner"));
      const mine = await node.me.send({ conversationId, messageId, message: "Mine" });
      const theirs = await stranger.send({ conversationId, messageId, message: "Theirs" });
      checkEqual([mine.outcome, theirs.outcome], ["started", "started"], "both sends");
      const own = await world.joined(node, conversationId);
      const frames: unknown[] = [];
      const ended: unknown[] = [];
      const leave = stranger.attach(conversationId, "0", {
        onFrame: (frame) => frames.push(frame),
        onEnd: (error) => ended.push(error),
      });
      await world.until(() => frames.length > 0, "the stranger joins");
      checkEqual(await stranger.stop(conversationId), { abortedTurn: true }, "the stranger's stop");
      await world.pass(stranger.last(conversationId), "the stopped turn ends");
      checkEqual((await node.me.meta(conversationId)).status, "active", "the other turn meanwhile");
      held.open();
      await world.pass(node.me.last(conversationId), "the other turn ends");
      checkEqual((await world.log(node, conversationId)).length, 2, "the log");
      checkEqual(
        (await stranger.turn(conversationId, theirs.turnId ?? "")).reason,
        "aborted",
        "how the stranger's ended",
      );
      checkEqual(
        (await node.me.turn(conversationId, mine.turnId ?? "")).reason,
        "stop",
        "how the other one ended",
      );
      await stranger.remove(conversationId);
      await world.until(() => ended.length > 0, "the stranger's subscription ends");
      checkEqual(own.ended, undefined, "the other subscription");
      const seen = JSON.stringify(own.frames);
      check(
        !seen.includes("Theirs") && !seen.includes(theirs.turnId ?? "?"),
        "nothing of it was sent to others",
      );
      check(!JSON.stringify(frames).includes(mine.turnId ?? "?"), "nor the other way round");
      checkEqual((await node.me.meta(conversationId)).title, "Mine", "the conversation that stays");
      leave();
    },
  },
  {
    name: "another owner's conversation behaves as unknown, whatever is asked of it",
    async run(world) {
      const node = await world.node();
      const { receipt } = await world.turn(node);
      const { conversationId, turnId } = receipt;
      const stranger = node.runtime.forOwner(world.id("owner"));
      const calls: [string, () => Promise<unknown>][] = [
        ["queue.list", () => stranger.queue.list(conversationId)],
        ["queue.resume", () => stranger.queue.resume(conversationId)],
        ["stop", () => stranger.stop(conversationId)],
        ["close", () => stranger.close(conversationId)],
        ["open", () => stranger.open(conversationId)],
        ["meta", () => stranger.meta(conversationId)],
        ["settings", () => stranger.settings(conversationId)],
        ["set", () => stranger.set(conversationId, { title: "x" })],
        ["history", () => stranger.history({ conversationId })],
        ["metrics", () => stranger.metrics(conversationId)],
        ["turn", () => stranger.turn(conversationId, turnId)],
        ["last", () => stranger.last(conversationId)],
        ["compact", () => stranger.compact(conversationId)],
        ["previewCompaction", () => stranger.previewCompaction(conversationId)],
        ["undoCompaction", () => stranger.undoCompaction(conversationId)],
        ["fork", () => stranger.fork({ conversationId, atSeq: 0 })],
      ];
      for (const [name, call] of calls) {
        const code = await world.refusal((async () => call())(), `a stranger's ${name}`);
        checkEqual(code, "conversation_not_found", `the code of ${name}`);
      }
      // Also while its owner follows it.
      const own = await world.joined(node, conversationId);
      for (const cursor of [undefined, "0"]) {
        const frames: unknown[] = [];
        const ended = new Promise((_, reject) => {
          stranger.attach(conversationId, cursor, { onFrame: (frame) => frames.push(frame), onEnd: reject });
        });
        const code = await world.refusal(ended, "a stranger's subscription");
        checkEqual([code, frames], ["conversation_not_found", []], "how it ends, and what it received");
      }
      const events = async () => {
        for await (const _ of stranger.events(conversationId, turnId));
      };
      checkEqual(await world.refusal(events(), "a stranger's events"), "conversation_not_found", "the code");
      checkEqual(own.ended, undefined, "the owner's subscription");
      checkEqual(await stranger.remove(conversationId), [], "a stranger's remove");
      checkEqual((await stranger.list()).conversations, [], "a stranger's list");
      checkEqual(await stranger.search({ q: "Hello" }), { hits: [] }, "a stranger's search");
      checkEqual((await world.log(node, conversationId)).length, 2, "the log");
    },
  },
  {
    name: "another owner can neither stop nor delete what runs",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("One "), pause(at), text("two.")) });
      const { conversationId, turnId } = await world.start(node);
      await world.pass(at.reached, "the model writes");
      const stranger = node.runtime.forOwner(world.id("owner"));
      checkEqual(await stranger.remove(conversationId, { cascade: true }), [], "a stranger's remove");
      for (const call of [stranger.stop, stranger.close]) {
        checkEqual(
          await world.refusal(call(conversationId), "a stranger's stop"),
          "conversation_not_found",
          "the code",
        );
      }
      at.open();
      const events = await world.turnEvents(node, conversationId, turnId);
      checkEqual(only(events, "done").reason, "stop", "the reason");
    },
  },
  {
    name: "manifests record what the model saw, and whether the prefix was kept, across turns",
    async run(world) {
      const node = await world.node({
        script: (_, index) =>
          index === 1 ? [toolCall("add", { a: 1, b: 1 }), usage(9, 3)] : [text("Fine."), usage(9, 3)],
        tools: [adder],
        instructions: "Be kind.",
      });
      const conversationId = world.id("c");
      const manifests = async (message: string) => {
        const { receipt } = await world.turn(node, message, { conversationId });
        const { providerCalls } = await node.me.turn(conversationId, receipt.turnId);
        return providerCalls.map(({ manifest }) => manifest);
      };
      const [first] = await manifests("One");
      checkEqual(first?.prefixKept, undefined, "the first call has nothing to keep");
      checkEqual(
        first?.segments.map(({ kind, firstSeq, lastSeq }) => [kind, firstSeq, lastSeq]),
        [
          ["instructions", undefined, undefined],
          ["tools", undefined, undefined],
          ["messages", 1, 1],
        ],
        "what it was shown",
      );
      const [second, third] = await manifests("Two");
      checkEqual([second?.prefixKept, third?.prefixKept], [true, true], "the prefix in the next turn");
      await node.me.set(conversationId, { instructions: "Be brief." });
      const [fourth] = await manifests("Three");
      checkEqual(
        [fourth?.prefixKept, fourth?.prefixBreak?.at],
        [false, "instructions"],
        "the prefix with other instructions",
      );
      const [fifth] = await manifests("Four");
      checkEqual(fifth?.prefixKept, true, "the prefix after that");
      check((fifth?.estimatedTokens ?? 0) > 0 && fifth?.contextWindow === 100_000, "tokens and window");
    },
  },
  {
    name: "raw responses are kept only when asked for, and where they can be kept",
    async run(world) {
      const answerWith = (raw: unknown) => ({
        type: "done" as const,
        result: {
          id: "r",
          createdAt: new Date(0),
          message: { role: "assistant" as const, content: [{ type: "text", text: "Hi" }] },
          raw,
        },
      });
      const secret = { secret: 1 };
      const cases = [
        { raw: secret, keepRaw: false, kept: undefined },
        { raw: secret, keepRaw: true, kept: secret },
        { raw: { at: new Date(0) }, keepRaw: true, kept: undefined },
        { raw: { long: "x".repeat(1_000_000) }, keepRaw: true, kept: undefined },
      ];
      for (const { raw, keepRaw, kept } of cases) {
        const node = await world.node({ script: always(answerWith(raw)), keepRaw });
        const { receipt, events } = await world.turn(node);
        checkEqual(only(events, "done").reason, "stop", "the reason");
        const { providerCalls } = await node.me.turn(receipt.conversationId, receipt.turnId);
        checkEqual([providerCalls.length, providerCalls[0]?.raw], [1, kept], "the raw response");
      }
    },
  },
  {
    name: "conversations are listed by activity, searched by id and title, and their texts found",
    async run(world) {
      const node = await world.node();
      const ids: string[] = [];
      for (const title of ["Apples", "Bananas", "Cherries"]) {
        const { receipt } = await world.turn(node, `${title} are tasty`);
        ids.push(receipt.conversationId);
        await world.advance(10);
      }
      const [a = "", b = "", c = ""] = ids;
      await world.turn(node, "More apples", { conversationId: a });
      const listed = async (query = {}) => (await node.me.list(query)).conversations.map(({ id }) => id);
      checkEqual(await listed(), [a, c, b], "newest activity first");
      const page = await node.me.list({ limit: 2 });
      checkEqual(page.conversations.length, 2, "a page");
      checkEqual(await listed({ limit: 2, before: page.nextBefore }), [b], "the next page");
      checkEqual(await listed({ q: "banana" }), [b], "by title");
      checkEqual(await listed({ q: c.slice(0, 12) }), [c], "by id");
      const { hits } = await node.me.search({ q: "cherr" });
      checkEqual(
        hits.map(({ conversationId, seq }) => [conversationId, seq]),
        [[c, 1]],
        "by text",
      );
      checkEqual(
        await world.refusal(node.me.search({ q: " " }), "an empty search"),
        "invalid_request",
        "the code",
      );
      const { models, defaultModel } = node.runtime.models();
      checkEqual([models, defaultModel], [["test/one"], "test/one"], "the models");
    },
  },
];
