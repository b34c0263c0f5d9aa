import { beforeEach, describe, expect, it } from "vitest";
import {
  endSelecting,
  rangeBetween,
  select,
  startSelecting,
  stillSelected,
  useSelection,
} from "./selection.js";

const selected = () => [...(useSelection.getState().ids ?? [])];

describe("a selection", () => {
  beforeEach(endSelecting);

  it("starts with the given conversations, grows and shrinks, and ends", () => {
    expect(useSelection.getState().ids).toBeUndefined();
    startSelecting("a");
    select(["b", "b2"], true);
    expect(selected()).toEqual(["a", "b", "b2"]);
    select(["a"], false);
    expect([selected(), useSelection.getState().anchor]).toEqual([["b", "b2"], "a"]);
    endSelecting();
    expect(useSelection.getState().ids).toBeUndefined();
  });

  it("may start empty", () => {
    startSelecting();
    expect(selected()).toEqual([]);
  });

  it("has ranges of whole families, in either direction", () => {
    const families = [["a"], ["b", "b2"], ["c"], ["d"]];
    expect(rangeBetween(families, "a", "c")).toEqual(["a", "b", "b2", "c"]);
    expect(rangeBetween(families, "d", "b2")).toEqual(["b", "b2", "c", "d"]);
    expect(rangeBetween(families, "b", "b")).toEqual(["b", "b2"]);
    expect(rangeBetween(families, "gone", "c")).toEqual(["c"]);
    expect(rangeBetween(families, undefined, "b")).toEqual(["b", "b2"]);
    expect(rangeBetween(families, "a", "gone")).toEqual([]);
  });

  it("has only what is still listed", () => {
    expect(stillSelected(new Set(["a", "gone"]), [{ id: "b" }, { id: "a" }])).toEqual(["a"]);
  });
});
