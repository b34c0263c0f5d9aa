import {
  createCountingIds,
  createManualClock,
  createMemoryDatabase,
  createMemoryPresence,
  type Gate,
  gate,
} from "@parley/testing";
import { describe, expect, it } from "vitest";
import { ParleyError } from "../../errors.js";
import type { StopRequest } from "../../ports/log-store.js";
import { defaultLeasePace, type Environment } from "../environment.js";
import { LeaseDeadline } from "./lease-deadline.js";
import { NodeLife } from "./node-life.js";

function lifeFixture() {
  const clock = createManualClock();
  const beats: { node: string; at: number }[] = [];
  const presences: (string | undefined)[] = [];
  const checks: number[] = [];
  const presence = createMemoryPresence(createMemoryDatabase(clock));
  const answers: (Gate | Error | StopRequest[])[] = [];
  const losses: number[] = [];
  const unheld: number[] = [];
  const stops: StopRequest[] = [];
  const env = {
    clock,
    ids: createCountingIds("name"),
    identity: { node: "n" },
    lease: defaultLeasePace,
    report() {},
    wake: { notify() {}, listen: () => () => {}, presence },
    root: {
      async heartbeat(node: string, _ttlMs: number, announced?: string) {
        beats.push({ node, at: clock.monotonic() });
        presences.push(announced);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        if (Array.isArray(answer)) return answer;
        await answer?.wait();
        return [];
      },
    },
  } as unknown as Environment;
  const deadline = new LeaseDeadline(clock);
  const life = new NodeLife(env, deadline, {
    loseAll: () => losses.push(clock.monotonic()),
    loseUnheld: () => unheld.push(clock.monotonic()),
    stop: (request) => stops.push(request),
    check: () => checks.push(clock.monotonic()),
  });
  const { alive } = deadline;
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) answers.push(new ParleyError("store_unavailable"));
  };
  return {
    clock,
    env,
    life,
    alive,
    beats,
    answers,
    losses,
    unheld,
    stops,
    fail,
    presence,
    presences,
    checks,
  };
}

describe("the life of a node", () => {
  it("is renewed in its pace", async () => {
    const { clock, alive, life, beats, losses } = lifeFixture();
    await life.start();
    await clock.advance(9_000);
    expect(beats.map(({ at }) => at)).toEqual([0, 3_000, 6_000, 9_000]);
    expect([alive(), losses]).toEqual([true, []]);
    life.stop();
    expect(clock.pending).toBe(0);
  });

  it("is renewed sooner after a failure, for that may have cost time already", async () => {
    const { clock, alive, life, beats, losses, fail } = lifeFixture();
    await life.start();
    fail(2);
    await clock.advance(9_000);
    expect(beats.map(({ at }) => at)).toEqual([0, 3_000, 4_000, 5_000, 8_000]);
    expect([alive(), losses]).toEqual([true, []]);
    life.stop();
  });

  it("ends at a deadline that counts from before the last renewal was sent", async () => {
    const { clock, alive, life, answers, losses, fail } = lifeFixture();
    await life.start();
    const slow = gate();
    answers.push(slow);
    fail(10);
    await clock.advance(3_000);
    await slow.reached;
    await clock.advance(2_000);
    slow.open();
    await clock.advance(7_999);
    expect([alive(), losses]).toEqual([true, []]);
    await clock.advance(1);
    expect([alive(), losses[0]]).toEqual([false, 13_000]);
  });

  it("continues under a new name, which lives only once the store has it", async () => {
    const { clock, alive, env, life, beats, fail } = lifeFixture();
    await life.start();
    fail(10);
    await clock.advance(12_500);
    expect([alive(), env.identity.node]).toEqual([false, "n+name1"]);
    await clock.advance(3_000);
    expect(beats.at(-1)?.node).toBe(env.identity.node);
    expect([alive(), env.identity.node]).toEqual([true, "n+name1"]);
  });

  it("does not take an answer about a name that was given up", async () => {
    const { clock, alive, env, life, answers, fail } = lifeFixture();
    await life.start();
    const old = gate();
    answers.push(old);
    await clock.advance(3_000);
    await old.reached;
    fail(1);
    clock.jump(20_000);
    await life.renewSoon();
    expect(env.identity.node).toBe("n+name1");
    old.open();
    await clock.advance(0);
    expect(alive()).toBe(false);
  });

  it("does not go back to a name whose deadline has passed when a renewal of it is answered late", async () => {
    const { clock, alive, env, life, beats, answers, losses } = lifeFixture();
    await life.start();
    const late = gate();
    answers.push(late);
    await clock.advance(3_000);
    await late.reached;
    await clock.advance(7_500);
    expect([alive(), losses[0]]).toEqual([false, 10_000]);
    late.open();
    await clock.advance(0);
    expect([alive(), env.identity.node]).toEqual([true, "n+name1"]);
    expect(beats.at(-1)).toEqual({ node: "n+name1", at: 10_500 });
  });

  it("notices after a suspension that its time is over, before any timer fires", async () => {
    const { clock, alive, life } = lifeFixture();
    await life.start();
    clock.jump(10_000);
    expect(alive()).toBe(false);
  });

  it("lets what a heartbeat did not renew be dropped, each time that one arrives", async () => {
    const { clock, life, unheld, fail } = lifeFixture();
    await life.start();
    fail(1);
    await clock.advance(4_000);
    expect(unheld).toEqual([0, 4_000]);
    life.stop();
  });

  it("brings the stops that others have asked for, with one chain of renewals however often it is asked", async () => {
    const { clock, life, beats, answers, stops } = lifeFixture();
    await life.start();
    const request: StopRequest = { owner: "o", conversationId: "c", log: 1, turnId: "t", fence: 1 };
    answers.push([request]);
    await Promise.all([life.renewSoon(), life.renewSoon(), life.renewSoon()]);
    expect(stops).toEqual([request]);
    beats.length = 0;
    await clock.advance(9_000);
    expect(beats).toHaveLength(3);
  });
});

describe("the presence of a node", () => {
  it("is announced with every heartbeat, and at once when it has changed", async () => {
    const { clock, life, beats, presence, presences, checks } = lifeFixture();
    await life.start();
    await clock.advance(3_000);
    presence.end();
    await clock.advance(0);
    presence.begin();
    await clock.advance(3_000);
    expect(presences).toEqual(["presence-1", "presence-1", undefined, "presence-2", "presence-2"]);
    expect(beats.map(({ at }) => at)).toEqual([0, 3_000, 3_000, 3_000, 6_000]);
    // The turns it ran while it had lost its first presence may have been taken over. It had none to lose after that.
    expect(checks).toEqual([3_000]);
    life.stop();
    presence.end();
    await clock.advance(0);
    expect([presences.length, clock.pending]).toEqual([5, 0]);
  });

  it("that has ended is taken back in a quick pace while the store does not answer", async () => {
    const { clock, life, beats, presence, fail } = lifeFixture();
    await life.start();
    fail(3);
    presence.end();
    await clock.advance(1_000);
    expect(beats.map(({ at }) => at)).toEqual([0, 0, 150, 300, 450]);
    life.stop();
  });

  it("is announced again when an answer comes for an older one, which may have arrived last", async () => {
    const { clock, life, answers, presence, presences } = lifeFixture();
    await life.start();
    const slow = gate();
    answers.push(slow);
    await clock.advance(3_000);
    await slow.reached;
    presence.end();
    await clock.advance(0);
    slow.open();
    await clock.advance(0);
    expect(presences.slice(1)).toEqual(["presence-1", undefined, undefined]);
    life.stop();
  });
});
