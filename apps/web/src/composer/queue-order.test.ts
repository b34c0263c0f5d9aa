import fc from "fast-check";
import { expect, it } from "vitest";
import { deliveryOrder, moved, movedAmong, placeBefore } from "./queue-order.js";

it("names the message to move in front of", () => {
  expect(placeBefore(["a", "b", "c"], "c", 0)).toBe("a");
  expect(placeBefore(["a", "b", "c"], "a", 1)).toBe("c");
  expect(placeBefore(["a", "b", "c"], "a", 2)).toBeNull();
});

it("requests nothing if the message would not move", () => {
  expect(placeBefore(["a", "b"], "a", 0)).toBeUndefined();
  expect(placeBefore(["a", "b"], "a", -1)).toBeUndefined();
  expect(placeBefore(["a", "b"], "b", 5)).toBeUndefined();
  expect(placeBefore(["a", "b"], "x", 0)).toBeUndefined();
});

it("ends at the requested place, whatever the queue", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      fc.nat(),
      (ids, a, b) => {
        const id = ids[a % ids.length] as string;
        const to = b % ids.length;
        const before = placeBefore(ids, id, to);
        const after = before === undefined ? ids : moved(ids, id, before);
        expect(after.indexOf(id)).toBe(to);
        expect(after.filter((each) => each !== id)).toEqual(ids.filter((each) => each !== id));
      },
    ),
  );
});

it("lists steering messages first, because they are delivered first", () => {
  expect(
    deliveryOrder([
      { id: "a", mode: "queue" },
      { id: "b", mode: "steer" },
      { id: "c", mode: "queue" },
      { id: "d" },
    ]),
  ).toEqual(["b", "d", "a", "c"]);
});

it("moves a message among messages of its own mode, and shows the order that the server returns", () => {
  const mode = fc.constantFrom<"steer" | "queue">("steer", "queue");
  fc.assert(
    fc.property(fc.array(mode, { minLength: 1, maxLength: 8 }), fc.nat(), fc.nat(), (modes, a, b) => {
      const queue = modes.map((each, index) => ({ id: `${index}`, mode: each }));
      const ids = deliveryOrder(queue);
      const id = ids[a % ids.length] as string;
      const kind = queue.find((each) => each.id === id)?.mode;
      const peers = ids.filter((each) => queue.some((other) => other.id === each && other.mode === kind));
      const to = b % ids.length;
      const step = movedAmong(ids, peers, id, to);
      const shown = step?.ids ?? ids;
      const stored =
        step === undefined
          ? ids
          : moved(
              queue.map((each) => each.id),
              id,
              step.before,
            );
      const byServer = stored.map((each) => ({ id: each, mode: modes[Number(each)] ?? "steer" }));
      expect(deliveryOrder(step === undefined ? queue : byServer)).toEqual(shown);
      if (peers.includes(ids[to] as string)) expect(shown.indexOf(id)).toBe(to);
    }),
  );
});
