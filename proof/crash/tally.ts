import type { FindingKind } from "../../test/kill/verify.js";
import type { ProofResult } from "../record-result.js";
import type { Outcome, TurnEnding } from "./run-case.js";

/** A case that did not end, or another finding. */
type Miss = FindingKind | "stuck";

interface Row {
  readonly environment: string;
  readonly at: string;
  cases: number;
  reached: number;
  kills: number;
  facts: number;
  cursors: number;
  openTurns: number;
  longestRecoveryMs: number;
  readonly misses: Map<Miss, number>;
  readonly turnEndings: Map<TurnEnding, number>;
}

const turnEndings: readonly TurnEnding[] = [
  "went on to its end",
  "ended as interrupted",
  "was stopped",
  "ended with an error",
];

/** Further counts: their column, and their claim. */
export interface TallyExtra {
  readonly kind: FindingKind;
  readonly column: string;
  readonly claim: string;
}

/** Counts the results of all cases, by environment and by moment. */
export class Tally {
  readonly #rows: Row[] = [];
  readonly #about: string;
  readonly #extras: readonly TallyExtra[];
  /** Findings, in words. */
  readonly words: string[] = [];

  constructor(about = "", extras: readonly TallyExtra[] = []) {
    this.#about = about;
    this.#extras = extras;
  }

  add(environment: string, at: string, outcome: Outcome): void {
    const row = this.#row(environment, at);
    row.cases += 1;
    row.reached += outcome.isReached ? 1 : 0;
    row.kills += outcome.kills;
    row.facts += outcome.facts;
    row.cursors += outcome.cursorsTried;
    row.openTurns += outcome.turnEndings.length;
    row.longestRecoveryMs = Math.max(row.longestRecoveryMs, ...outcome.recoveries.map(({ ms }) => ms));
    for (const fate of outcome.turnEndings) row.turnEndings.set(fate, (row.turnEndings.get(fate) ?? 0) + 1);
    for (const { kind, words } of outcome.findings) this.#miss(row, kind, `${outcome.name}: ${words}`);
  }

  /** Adds a case that did not end. */
  addStuck(environment: string, at: string, name: string, error: unknown): void {
    const row = this.#row(environment, at);
    row.cases += 1;
    this.#miss(row, "stuck", `${name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  }

  get kills(): number {
    return sum(this.#rows, ({ kills }) => kills);
  }

  tables(): ProofResult["tables"] {
    return [
      {
        title: `Cases by environment and outcome${this.#about}`,
        columns: [
          "environment",
          "struck at",
          "cases",
          "of these at the very moment",
          "kills",
          "facts held",
          "lost",
          "doubled",
          "gaps",
          "calls without result",
          "open too long",
          "cursors tried",
          "cursors wrong",
          "without an end",
          ...this.#extras.map(({ column }) => column),
          "longest recovery",
        ],
        rows: this.#rows.map((row) => [
          row.environment,
          row.at,
          row.cases,
          row.reached,
          row.kills,
          row.facts,
          ...(["lost", "doubled", "gap", "call", "open"] as const).map((kind) => row.misses.get(kind) ?? 0),
          row.cursors,
          row.misses.get("cursor") ?? 0,
          row.misses.get("stuck") ?? 0,
          ...this.#extras.map(({ kind }) => row.misses.get(kind) ?? 0),
          `${inThousands(row.longestRecoveryMs)} ms`,
        ]),
      },
      {
        title: `What became of the turns that were open when it struck${this.#about}`,
        columns: ["environment", "struck at", "open turns", ...turnEndings],
        rows: this.#rows.map((row) => [
          row.environment,
          row.at,
          row.openTurns,
          ...turnEndings.map((fate) => row.turnEndings.get(fate) ?? 0),
        ]),
      },
    ];
  }

  /** Returns the claims, each with its figure. */
  statements(leastKills: number): string[] {
    const facts = sum(this.#rows, (row) => row.facts);
    const cursors = sum(this.#rows, (row) => row.cursors);
    const longest = Math.max(0, ...this.#rows.map((row) => row.longestRecoveryMs));
    const count = (kind: Miss) => sum(this.#rows, ({ misses }) => misses.get(kind) ?? 0);
    const zero = (kind: Miss, what: string) =>
      `${count(kind) === 0 ? "PASS" : "MISS"} ${what}: ${count(kind)}`;
    return [
      `${this.kills >= leastKills ? "PASS" : "MISS"} kills: ${inThousands(this.kills)}, at least ${leastKills}`,
      zero("lost", `acknowledged facts lost or changed, of ${inThousands(facts)}`),
      zero("doubled", "facts doubled, or there without having been said"),
      zero("gap", "seq gaps, and turns out of order"),
      zero("call", "calls without a result"),
      zero("open", "turns open longer than lease + 2 s + the machine's own delay"),
      zero("cursor", `cursors that did not fold to the truth, of ${inThousands(cursors)}`),
      zero("stuck", "cases that came to no end"),
      ...this.#extras.map(({ kind, claim }) => zero(kind, claim)),
      `${count("open") === 0 ? "PASS" : "MISS"} longest recovery: ${inThousands(longest)} ms`,
    ];
  }

  #row(environment: string, at: string): Row {
    const known = this.#rows.find((row) => row.environment === environment && row.at === at);
    if (known !== undefined) return known;
    const row: Row = {
      environment,
      at,
      cases: 0,
      reached: 0,
      kills: 0,
      facts: 0,
      cursors: 0,
      openTurns: 0,
      longestRecoveryMs: 0,
      misses: new Map(),
      turnEndings: new Map(),
    };
    this.#rows.push(row);
    return row;
  }

  #miss(row: Row, kind: Miss, words: string): void {
    row.misses.set(kind, (row.misses.get(kind) ?? 0) + 1);
    const line = `${row.environment}, ${kind}: ${words}`;
    this.words.push(line);
    console.error(line);
  }
}

function sum(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

function inThousands(figure: number): string {
  return Math.round(figure).toLocaleString("en-US");
}
