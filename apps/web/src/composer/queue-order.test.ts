import fc from "fast-check";
import { expect, it } from "vitest";
import { moved, placeBefore } from "./queue-order.js";

it("names the message to stand in front of", () => {
  expect(placeBefore(["a", "b", "c"], "c", 0)).toBe("a");
  expect(placeBefore(["a", "b", "c"], "a", 1)).toBe("c");
  expect(placeBefore(["a", "b", "c"], "a", 2)).toBeNull();
});

it("asks for nothing when it would not move", () => {
  expect(placeBefore(["a", "b"], "a", 0)).toBeUndefined();
  expect(placeBefore(["a", "b"], "a", -1)).toBeUndefined();
  expect(placeBefore(["a", "b"], "b", 5)).toBeUndefined();
  expect(placeBefore(["a", "b"], "x", 0)).toBeUndefined();
});

it("ends at the place that was asked for, whatever the queue", () => {
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
