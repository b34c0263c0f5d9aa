import { expect, it } from "vitest";
import { placeBeside } from "./place-beside.js";

const screen = { width: 400, height: 600 };
const popup = { width: 100, height: 80 };

it("is placed on the wanted side, with the wanted alignment", () => {
  const anchor = { left: 100, top: 300, width: 40, height: 20 };
  expect(placeBeside(anchor, popup, screen, { side: "bottom", align: "start" })).toEqual({
    left: 100,
    top: 326,
    side: "bottom",
  });
  expect(placeBeside(anchor, popup, screen, { side: "top", align: "center" })).toEqual({
    left: 70,
    top: 214,
    side: "top",
  });
  expect(placeBeside(anchor, popup, screen, { side: "right", align: "end" })).toEqual({
    left: 146,
    top: 240,
    side: "right",
  });
});

it("moves to the other side if that has more space", () => {
  const anchor = { left: 100, top: 560, width: 40, height: 20 };
  expect(placeBeside(anchor, popup, screen, { side: "bottom", align: "start" }).side).toBe("top");
});

it("never leaves the screen", () => {
  for (const left of [-50, 0, 380, 500]) {
    const anchor = { left, top: 10, width: 40, height: 20 };
    const place = placeBeside(anchor, popup, screen, { side: "top", align: "center" });
    expect(place.left).toBeGreaterThanOrEqual(8);
    expect(place.left + popup.width).toBeLessThanOrEqual(392);
    expect(place.top).toBeGreaterThanOrEqual(8);
  }
});
