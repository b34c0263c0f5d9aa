import { describe, expect, it } from "vitest";
import { bar, barChart, sparkline } from "./chart.js";
import { ago, bytes, duration, tokens } from "./figures.js";
import { table } from "./table.js";
import { textWidth } from "./text-width.js";

const rows = [
  { name: "one", title: "A title that is rather long for this terminal", count: 7 },
  { name: "漢字", title: "short\nwith a break", count: 1_234 },
];
const columns = [
  { title: "name", text: (row: (typeof rows)[number]) => row.name },
  { title: "title", text: (row: (typeof rows)[number]) => row.title, shrink: true },
  { title: "count", text: (row: (typeof rows)[number]) => String(row.count), align: "right" as const },
];

describe("a table", () => {
  it("aligns its columns, also of wide characters", () => {
    const lines = table(rows, columns);
    expect(lines).toHaveLength(3);
    expect(new Set(lines.map(textWidth)).size).toBe(1);
    expect(lines[2]).toContain("漢字  short with a break");
  });

  it("gives way where it may when the terminal is narrow", () => {
    for (const line of table(rows, columns, { columns: 40 })) expect(textWidth(line)).toBeLessThanOrEqual(40);
    expect(table(rows, columns, { columns: 40 })[1]).toContain("…");
  });
});

describe("a table with several columns that may give way", () => {
  it("takes from the widest", () => {
    const wide = [
      { title: "a", text: () => "x".repeat(1_000_000), shrink: true },
      { title: "b", text: () => "y".repeat(20), shrink: true },
    ];
    const [, line = ""] = table([{}], wide, { columns: 42 });
    expect(line).toBe(`${"x".repeat(19)}…  ${"y".repeat(20)}`);
  });
});

describe("charts", () => {
  it("draw bars to an eighth of a column", () => {
    expect(bar(0.5, 10)).toBe("█████");
    expect(bar(0.5, 3)).toBe("█▌");
    expect(bar(0, 10)).toBe("");
    expect(bar(0.0001, 10)).toBe("▏");
    expect(bar(Number.NaN, 10)).toBe("");
  });

  it("put pieces behind each other on one scale", () => {
    const lines = barChart(
      [
        { label: "a", pieces: [{ value: 50 }, { value: 50, paint: (text) => `<${text}>` }], note: "100" },
        { label: "bb", pieces: [{ value: 25 }], note: "25" },
      ],
      30,
    );
    expect(lines[0]).toMatch(/^a {3}█+<█+> {2}100$/);
    expect(lines[1]).toMatch(/^bb {2}█+[▏▎▍▌▋▊▉]? +25$/);
  });

  it("leave a gap in a sparkline where a value is unknown", () => {
    expect(sparkline([0, undefined, 10])).toBe("▁ █");
  });
});

describe("figures", () => {
  it("are written as people say them", () => {
    expect([duration(12), duration(2_100), duration(185_000), duration(undefined)]).toEqual([
      "12 ms",
      "2.1 s",
      "3 min 5 s",
      "?",
    ]);
    expect([tokens(395), tokens(12_400), tokens(1_050_000), tokens(undefined)]).toEqual([
      "395",
      "12.4k",
      "1.05M",
      "?",
    ]);
    expect([bytes(10), bytes(1_500), bytes(39_000_000)]).toEqual(["10 B", "1.5 kB", "39 MB"]);
    expect(ago(0, 7_200_000)).toBe("2 h ago");
  });
});
