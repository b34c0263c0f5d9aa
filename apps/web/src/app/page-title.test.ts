import { expect, it } from "vitest";
import { titleText } from "./page-title.js";

it("shows how many requests wait, before the name of what is shown", () => {
  expect([titleText("", 0), titleText("Trip", 0), titleText("Trip", 2), titleText("", 1)]).toEqual([
    "Parley",
    "Trip · Parley",
    "(2) Trip · Parley",
    "(1) Parley",
  ]);
});
