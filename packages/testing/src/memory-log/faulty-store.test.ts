import { ParleyError } from "@parley/core/errors";
import { describe, expect, it } from "vitest";
import { createManualClock, settle } from "../manual-clock.js";
import { createFaultyStore } from "./faulty-store.js";
import { createMemoryLogStore } from "./memory-log-store.js";

function fixture() {
  const root = createMemoryLogStore({ clock: createManualClock() });
  const { store, faults } = createFaultyStore(root);
  const create = (id: string) => store.forOwner("o").create({ id, settings: {} });
  const exists = async (id: string) => (await root.forOwner("o").get(id)) !== null;
  return { root, store, faults, create, exists };
}

const unavailable = { code: "store_unavailable", retryable: true };

describe("a store with faults", () => {
  it("fails the chosen calls, before or after their effect, and no others", async () => {
    const { faults, create, exists, store } = fixture();
    faults.fail("create");
    await expect(create("a")).rejects.toMatchObject(unavailable);
    faults.fail("create", "after");
    await store.heartbeat("n", 1);
    await expect(create("b")).rejects.toMatchObject(unavailable);
    await expect(create("c")).resolves.toMatchObject({ created: true });
    expect([await exists("a"), await exists("b"), await exists("c")]).toEqual([false, true, true]);
    expect(faults.calls.map(({ method }) => method)).toEqual(["create", "heartbeat", "create", "create"]);
  });

  it("refuses the calls that are chosen by their arguments, until it heals", async () => {
    const { faults, create, exists } = fixture();
    faults.refuse("create", (input) =>
      (input as { id: string }).id === "a" ? new ParleyError("too_large") : undefined,
    );
    await expect(create("a")).rejects.toMatchObject({ code: "too_large" });
    await create("b");
    expect([await exists("a"), await exists("b")]).toEqual([false, true]);
    faults.heal();
    await create("a");
    expect(await exists("a")).toBe(true);
  });

  it("is cut off for one handle, and heals", async () => {
    const { faults, create, exists, store } = fixture();
    faults.cutOff();
    await expect(create("a")).rejects.toMatchObject(unavailable);
    await expect(store.heartbeat("n", 1)).rejects.toMatchObject(unavailable);
    expect(await exists("a")).toBe(false);
    faults.heal();
    await create("a");
    expect(await exists("a")).toBe(true);
  });

  it("reaches the keys too, under their own names", async () => {
    const { faults, store } = fixture();
    faults.fail("keys.list");
    await expect(store.keys.list()).rejects.toMatchObject(unavailable);
    expect(await store.keys.list()).toEqual([]);
    expect(faults.calls.map(({ method }) => method)).toEqual(["keys.list", "keys.list"]);
  });

  it("holds a call back until the test lets it through", async () => {
    const { faults, create, exists } = fixture();
    const at = faults.hold("create");
    const made = create("a");
    await at.reached;
    await settle();
    expect(await exists("a")).toBe(false);
    at.open();
    await made;
    expect(await exists("a")).toBe(true);
  });
});
