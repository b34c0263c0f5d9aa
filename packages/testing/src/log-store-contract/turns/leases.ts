import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  heldTurn,
  message,
  outcomeOf,
  refused,
  type Scenario,
  type TopicCase,
  textsOf,
  uniqueId,
} from "../scenario.js";

/** Cases of write access: one node at a time, by the store's clock, with a fence that only grows. */
export const leaseCases: readonly TopicCase[] = [
  {
    name: "bringing up the schema again, also by two at once, changes nothing",
    twoHandles: true,
    async run(s) {
      const { conversationId: id } = await s.turn();
      const before = await s.store.get(id);
      await Promise.all([s.root.migrate(), s.second.migrate()]);
      checkEqual(await s.store.get(id), before, "a conversation");
    },
  },
  {
    name: "a heartbeat names the turns of its node that were asked to stop, until they are sealed",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const other = await s.start();
      await s.store.takeOver({ ...heldTurn(other), node: await s.otherNode() });
      await s.start();
      const stops = async () =>
        (await s.root.heartbeat(s.node, 600_000)).filter(({ owner }) => owner === s.owner);
      checkEqual(await stops(), [], "before any stop");
      await s.store.requestStop(id);
      await s.store.requestStop(other.conversationId);
      const expected = [{ owner: s.owner, log: turn.log, ...heldTurn(turn) }];
      checkEqual(await stops(), expected, "after two stops, one of them another node's");
      checkEqual(await stops(), expected, "again");
      await s.seal(turn, [], { reason: "aborted" });
      checkEqual(await stops(), [], "after the seal");
    },
  },
  {
    name: "a stop marks what runs, says so everywhere, and is nothing where nothing runs",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const lease = await s.store.requestStop(id);
      const { owner, log } = turn;
      const expected = { owner, log, ...heldTurn(turn), purpose: "turn", stopRequested: true };
      checkEqual(lease, expected, "the lease");
      checkEqual(await s.store.requestStop(id), expected, "the lease at a second stop");
      checkEqual((await s.store.get(id))?.active?.stopRequested, true, "in the record");
      const open = await s.store.readOpenTurn({ conversationId: id });
      checkEqual(open?.stopRequested, true, "in the open turn");
      const { stopRequested } = await s.commit(turn, [message(id, { role: "assistant" })]);
      checkEqual(stopRequested, true, "in a commit's answer");
      await s.seal(turn, [], { reason: "aborted" });
      checkEqual(await s.store.requestStop(id), null, "where nothing runs");
      checkEqual(
        (await s.start(id)) && (await s.store.get(id))?.active?.stopRequested,
        false,
        "the next turn",
      );
    },
  },
  {
    name: "leases of a living node are not claimed, those of a dead one are, with the next fence",
    async run(s) {
      const mine = await s.start();
      const node = await s.otherNode();
      const dead = await s.start(uniqueId(), { node: `never-${uniqueId()}` });
      await s.store.requestStop(dead.conversationId);
      const claimed = await s.claimMine(node);
      const expected = {
        owner: s.owner,
        log: dead.log,
        ...heldTurn(dead),
        fence: dead.fence + 1,
        purpose: "turn",
        stopRequested: true,
      };
      checkEqual(claimed, [expected], "the claimed leases");
      checkEqual((await s.store.get(dead.conversationId))?.active?.node, node, "the new holder");
      checkEqual((await s.store.get(dead.conversationId))?.active?.startedAt, dead.startedAt, "its start");
      checkEqual((await s.store.get(mine.conversationId))?.active?.fence, mine.fence, "the living one's");
      checkEqual(await s.claimMine(await s.otherNode()), [], "what is left to claim");
      await refused(s.commit(dead, [message(dead.conversationId)]), "stale_fence", "the dead one's commit");
      await s.seal({ ...dead, fence: dead.fence + 1 });
    },
  },
  {
    name: "a node lives as long as its heartbeats say, by the store's clock",
    async run(s) {
      const node = `brief-${uniqueId()}`;
      const other = await s.otherNode();
      await s.root.heartbeat(node, 1_000);
      const turn = await s.start(uniqueId(), { node });
      await s.advance(600);
      await s.root.heartbeat(node, 1_000);
      await s.advance(600);
      checkEqual(await s.claimMine(other), [], "while it renews its life");
      await s.advance(600);
      const [lease] = await s.claimMine(other);
      checkEqual([lease?.turnId, lease?.fence], [turn.turnId, turn.fence + 1], "when it has not");
    },
  },
  {
    name: "claims come oldest first and no more than asked for",
    async run(s) {
      const node = `never-${uniqueId()}`;
      const turns = [];
      for (let index = 0; index < 5; index++) {
        turns.push(await s.start(uniqueId(), { node }));
        await s.advance(5);
      }
      const claimed = await s.claimMine(await s.otherNode(), 2);
      checkEqual(
        claimed.map(({ turnId }) => turnId),
        turns.map(({ turnId }) => turnId),
        "the order of the claims",
      );
    },
  },
  {
    name: "a retired node's leases can be claimed at once; those not claimed are its own again with a heartbeat",
    async run(s) {
      const node = await s.otherNode();
      const turn = await s.start(uniqueId(), { node });
      await s.root.retire(node);
      await s.root.heartbeat(node, 600_000);
      checkEqual(await s.claimMine(s.node), [], "after its next heartbeat");
      await s.commit(turn, [message(turn.conversationId, { role: "assistant" })]);
      await s.root.retire(node);
      const [lease] = await s.claimMine(s.node);
      checkEqual([lease?.turnId, lease?.fence], [turn.turnId, turn.fence + 1], "after it was retired");
      await s.root.retire(`never-${uniqueId()}`);
    },
  },
  {
    name: "a node is absent when the session of its presence has ended, until its next heartbeat",
    async run(s) {
      const presence = await s.beginPresence();
      if (presence === undefined) return;
      const node = `node-${uniqueId()}`;
      const look = async () => (await s.second.absentNodes()).filter((each) => each.node === node);
      await s.root.heartbeat(node, 600_000, presence.token);
      checkEqual(await look(), [], "while its process runs");
      await presence.end();
      // A database may notice the end of a session a moment later.
      for (let tries = 0; tries < 200 && (await look()).length === 0; tries += 1) await s.advance(10);
      const [first, ...others] = await look();
      check(first !== undefined && others.length === 0, "it is absent once its process has ended");
      checkEqual(await look(), [first], "at the next look");
      await s.root.heartbeat(node, 600_000);
      checkEqual(await look(), [], "after a heartbeat without a presence");
      await s.root.heartbeat(node, 1, presence.token);
      await s.advance(50);
      checkEqual(await look(), [], "when its lease has run out as well");
    },
  },
  {
    name: "an absent node is retired only if it has sent no heartbeat since",
    async run(s) {
      const presence = await s.beginPresence();
      if (presence === undefined) return;
      const node = `node-${uniqueId()}`;
      await s.root.heartbeat(node, 600_000, presence.token);
      const turn = await s.start(uniqueId(), { node });
      await presence.end();
      const seen = async () => (await s.root.absentNodes()).find((each) => each.node === node)?.renewal;
      for (let tries = 0; tries < 200 && (await seen()) === undefined; tries += 1) await s.advance(10);
      const before = await seen();
      await s.advance(5);
      await s.root.heartbeat(node, 600_000, presence.token);
      await s.root.retire(node, before);
      checkEqual(await s.claimMine(s.node), [], "while it has renewed since");
      await s.root.retire(node, await seen());
      const [lease] = await s.claimMine(s.node);
      checkEqual([lease?.turnId, lease?.fence], [turn.turnId, turn.fence + 1], "when it has not");
    },
  },
  {
    name: "a presence that the store cannot check does not make its node absent",
    async run(s) {
      for (const token of ["", "of another kind", "1.2/3", "1700000000000000.5/99"]) {
        await s.root.heartbeat(s.node, 600_000, token);
        const absent = await s.root.absentNodes();
        check(
          !absent.some(({ node }) => node === s.node),
          `a node with the presence ${JSON.stringify(token)}`,
        );
      }
    },
  },
  {
    name: "a released turn stays open and is claimed at once, although its node lives",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.root.flushJournal([batch(turn, 0)]);
      await s.store.release(heldTurn(turn));
      await s.store.release(heldTurn(turn));
      const record = await s.store.get(id);
      checkEqual([record?.status, record?.active?.node], ["active", ""], "the state when released");
      checkEqual((await s.send(id)).kind, "queued", "a message meanwhile");
      const node = await s.otherNode();
      const [lease] = await s.claimMine(node);
      checkEqual([lease?.turnId, lease?.fence], [turn.turnId, turn.fence + 1], "the claimed lease");
      const open = await s.store.readOpenTurn({ conversationId: id });
      check((open?.elapsedMs ?? -1) >= 0, "how long the turn has been open, by the clock of the store");
      checkEqual([open?.node, open?.journal.length], [node, 1], "the turn as its new holder finds it");
      await refused(s.store.release(heldTurn(turn)), "stale_fence", "releasing it again");
    },
  },
  {
    name: "a take-over needs the current fence, and shuts out the former holder",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const node = await s.otherNode();
      const take = (request: Partial<typeof turn>) =>
        s.store.takeOver({ ...heldTurn({ ...turn, ...request }), node });
      checkEqual(await take({ fence: turn.fence - 1 }), null, "with an older fence");
      checkEqual(await take({ fence: turn.fence + 1 }), null, "with a newer fence");
      checkEqual(await take({ turnId: uniqueId() }), null, "for another turn");
      checkEqual(await take({ conversationId: uniqueId() }), null, "in another conversation");
      checkEqual((await s.store.get(id))?.active?.node, s.node, "the holder so far");
      const lease = await take({});
      const { owner, log } = turn;
      const expected = { owner, log, ...heldTurn(turn), fence: turn.fence + 1, purpose: "turn" };
      checkEqual(lease, { ...expected, stopRequested: false }, "the lease");
      checkEqual(await take({}), null, "a second time");
      await refused(s.commit(turn, [message(id)]), "stale_fence", "a commit of the former holder");
      await refused(s.seal(turn, [message(id)]), "stale_fence", "a seal of the former holder");
      const taken = { ...turn, fence: turn.fence + 1 };
      await s.commit(taken, [message(id, { role: "assistant", text: "Taken" })]);
      await s.seal(taken);
      checkEqual(await s.texts(id), ["Hello", "Taken"], "the log");
      await refused(s.seal(turn), "stale_fence", "the former holder's seal afterwards");
    },
  },
  {
    name: "two nodes that claim at once get each lease once",
    twoHandles: true,
    async run(s) {
      const node = `never-${uniqueId()}`;
      const turns = await Promise.all(Array.from({ length: 20 }, () => s.start(uniqueId(), { node })));
      const nodes = [await s.otherNode(), await s.otherNode()];
      const claimed = await Promise.all(
        nodes.map(async (claimer, index) => {
          const root = index === 0 ? s.root : s.second;
          const mine = [];
          for (let call = 0; call < 40; call++) {
            const leases = await root.claimExpired(claimer, 3);
            mine.push(...leases.filter((lease) => lease.owner === s.owner));
            if (leases.length === 0 && call > 10) break;
          }
          return mine;
        }),
      );
      // A row that the other one was taking is skipped, so one more claim may be needed.
      const rest = await s.claimMine(nodes[0] ?? "");
      const all = [...claimed.flat(), ...rest].map(({ turnId }) => turnId);
      checkEqual(all.toSorted(), turns.map(({ turnId }) => turnId).toSorted(), "the claimed turns");
      for (const turn of turns) {
        const fence = (await s.store.get(turn.conversationId))?.active?.fence;
        checkEqual(fence, turn.fence + 1, "a fence afterwards");
      }
    },
  },
  {
    name: "of a take-over and a seal that meet, exactly one wins",
    twoHandles: true,
    async run(s) {
      const node = await s.otherNode();
      for (let round = 0; round < 20; round++) {
        const turn = await s.start();
        const id = turn.conversationId;
        const [sealed, lease] = await Promise.all([
          outcomeOf(s.seal(turn, [message(id, { role: "assistant", text: "Sealed" })])),
          s.otherStore.takeOver({ ...heldTurn(turn), node }),
        ]);
        if (lease === null) check("value" in sealed, "without a take-over the seal holds");
        else checkEqual(sealed, { code: "stale_fence" }, "the seal after a take-over");
        checkEqual(await s.texts(id), lease === null ? ["Hello", "Sealed"] : ["Hello"], "the log");
      }
    },
  },
  {
    name: "of a take-over and a commit that meet, the commit is whole before it or not there",
    twoHandles: true,
    async run(s) {
      const node = await s.otherNode();
      for (let round = 0; round < 20; round++) {
        const turn = await s.start();
        const id = turn.conversationId;
        await s.root.flushJournal([batch(turn, 0)]);
        const [committed, state] = await Promise.all([
          outcomeOf(s.commit(turn, [message(id, { role: "assistant", text: "Committed" })])),
          s.otherStore
            .takeOver({ ...heldTurn(turn), node })
            .then(() => s.otherStore.readOpenTurn({ conversationId: id })),
        ]);
        const rows = textsOf(state?.entries ?? []);
        if ("value" in committed) {
          checkEqual([rows, state?.journal], [["Hello", "Committed"], []], "the step is in rows alone");
        } else {
          checkEqual(committed, { code: "stale_fence" }, "the refusal");
          checkEqual([rows, state?.journal.length], [["Hello"], 1], "the step is in the journal alone");
        }
      }
    },
  },
  {
    name: "a stop that was acknowledged is not answered by the next turn",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 20; round++) {
        const turn = await s.start();
        const id = turn.conversationId;
        await s.enqueue(id, { text: "Waiting" });
        const [sealed, stopped] = await Promise.all([s.seal(turn), s.otherStore.requestStop(id)]);
        check(stopped !== null, "something runs at every moment, so the stop marks it");
        const record = await s.store.get(id);
        if (stopped.turnId === turn.turnId) {
          checkEqual([sealed.next, record?.active], [undefined, undefined], "what runs after the stop");
          checkEqual([record?.queue.length, record?.queuePaused], [1, true], "what waits");
        } else {
          checkEqual(record?.active?.turnId, stopped.turnId, "the stopped turn");
          checkEqual(record?.active?.stopRequested, true, "its mark");
        }
      }
    },
  },
  {
    name: "fences only grow within a conversation, from turn to turn too",
    async run(s) {
      const id = uniqueId();
      const fences: number[] = [];
      for (let round = 0; round < 3; round++) {
        const turn = await s.start(id);
        const lease = await s.store.takeOver({ ...heldTurn(turn), node: s.node });
        fences.push(turn.fence, lease?.fence ?? 0);
        await s.seal({ ...turn, fence: lease?.fence ?? 0 });
      }
      checkEqual(
        fences,
        fences.toSorted((left, right) => left - right),
        "the order of the fences",
      );
      checkEqual(new Set(fences).size, fences.length, "how many differ");
    },
  },
  {
    name: "a compaction's lease is for idle conversations; messages meanwhile wait",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const request = { conversationId: id, node: s.node, turnId: uniqueId() };
      await refused(s.store.lease(request), "turn_active", "while a turn runs");
      await refused(
        s.store.lease({ ...request, conversationId: uniqueId() }),
        "conversation_not_found",
        "for an unknown conversation",
      );
      await s.seal(turn);
      const lease = await s.store.lease(request);
      checkEqual(
        [lease.turnId, lease.purpose, lease.owner, lease.stopRequested],
        [request.turnId, "compaction", s.owner, false],
        "the lease",
      );
      check(lease.fence > turn.fence, "its fence is newer");
      checkEqual(await s.store.lease(request), lease, "the same request again");
      const second = { ...request, turnId: uniqueId() };
      await refused(s.store.lease(second), "turn_active", "another one meanwhile");
      const record = await s.store.get(id);
      checkEqual([record?.status, record?.active?.purpose], ["idle", "compaction"], "the state meanwhile");
      checkEqual(await s.store.readOpenTurn({ conversationId: id }), null, "the open turn meanwhile");
      const refusal = await refused(
        s.send(id, { ifBusy: "reject" }),
        "turn_active",
        "a message that will not wait",
      );
      check(refusal.message.includes("compaction"), `the refusal says what runs: ${refusal.message}`);
      const outcome = await s.send(id, { text: "Waits" });
      check(outcome.kind === "queued", "a message that waits");
      checkEqual(outcome.turnId, undefined, "there is no running turn to name");
      checkEqual(await s.root.flushJournal([batch({ ...lease }, 0)]), ["stale_fence"], "a flush");
    },
  },
  {
    name: "ending a compaction's lease lets the queue continue, once",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const end = async (queued: boolean) => {
        const lease = await s.store.lease({ conversationId: id, node: s.node, turnId: uniqueId() });
        if (queued) await s.enqueue(id, { text: "Waited" });
        const request = { ...heldTurn(lease), next: s.next() };
        const stale = s.store.endLease({ ...request, fence: lease.fence - 1 });
        await refused(stale, "stale_fence", "ending it with another fence");
        const first = await s.store.endLease(request);
        checkEqual(await s.store.endLease(request), first, "ending it again");
        return { ...first, request };
      };
      const quiet = await end(false);
      checkEqual(
        [quiet.next, quiet.queue],
        [undefined, { entries: [], paused: false }],
        "with nothing waiting",
      );
      checkEqual((await s.store.get(id))?.active, undefined, "the lease");
      const turn = await s.start(id);
      const wrong = await outcomeOf(s.store.endLease({ ...heldTurn(turn), next: s.next() }));
      check("code" in wrong, "a turn is not ended this way");
      await refused(s.store.endLease(quiet.request), "stale_fence", "ending the lease when others went on");
      checkEqual((await s.store.get(id))?.active?.turnId, turn.turnId, "the running turn");
      await s.seal(turn);
      const { next, queue } = await end(true);
      checkEqual([textsOf(next?.entries ?? []), queue.entries], [["Waited"], []], "with a message waiting");
      checkEqual((await s.store.get(id))?.active?.turnId, next?.turnId, "the running turn");
    },
  },
  {
    name: "a compaction's lease of a dead node is claimed as such",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const request = { conversationId: id, node: `never-${uniqueId()}`, turnId: uniqueId() };
      const lease = await s.store.lease(request);
      await s.enqueue(id);
      const [claimed] = await s.claimMine(s.node);
      checkEqual(claimed, { ...lease, fence: lease.fence + 1 }, "the claimed lease");
      const stale = s.store.endLease({ ...heldTurn(lease), next: s.next() });
      await refused(stale, "stale_fence", "the former holder's end");
      check(claimed !== undefined, "it was claimed");
      const { next } = await s.store.endLease({ ...heldTurn(claimed), next: s.next() });
      check(next !== undefined, "the queue goes on");
    },
  },
  {
    name: "a draining node leaves the next turn open for the node that claims it",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.enqueue(id, { text: "Waiting" });
      const next = s.next({ openNext: false });
      const sealed = await s.seal(turn, [], { next });
      checkEqual([sealed.next, sealed.status], [undefined, "active"], "what the seal says");
      checkEqual(await s.seal(turn, [], { next }), sealed, "what it says again");
      const node = await s.otherNode();
      const [claimed] = await s.claimMine(node);
      checkEqual(claimed?.turnId, next.turnId, "the claimed turn");
      const open = await s.store.readOpenTurn({ conversationId: id });
      checkEqual([open?.node, textsOf(open?.entries ?? [])], [node, ["Waiting"]], "the turn");
      await s.seal({ conversationId: id, turnId: next.turnId, fence: claimed?.fence ?? 0 });
      await checkQuietDrain(s);
    },
  },
];

/** Checks that a draining node's seal opens nothing if nothing waits, or the queue is paused. */
async function checkQuietDrain(s: Scenario): Promise<void> {
  const empty = await s.seal(await s.start(), [], { next: { openNext: false } });
  checkEqual(empty.status, "idle", "the status with nothing waiting");
  const turn = await s.start();
  await s.enqueue(turn.conversationId);
  const paused = await s.seal(turn, [], { next: { openNext: false, pauseQueue: true } });
  checkEqual([paused.status, paused.queue.paused], ["idle", true], "the status with a paused queue");
  checkEqual(await s.claimMine(s.node), [], "what can be claimed");
}
