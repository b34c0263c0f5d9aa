import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTelemetryHooks } from "@parley/server";
import { describe, expect, it } from "vitest";

const deploy = join(import.meta.dirname, "..", "deploy");
const namePattern = /\b(?:parley|process|nodejs)_[a-z0-9_]+/g;

/** Names of metrics that expressions use. */
function usedIn(file: string): Set<string> {
  const text = readFileSync(join(deploy, file), "utf8");
  const expressions = [...text.matchAll(/"?expr"?: (.*)/g), ...text.matchAll(/label_values\((.*?)[,)]/g)];
  return new Set(expressions.flatMap(([, expression = ""]) => expression.match(namePattern) ?? []));
}

/** Names of series that a server exposes. */
async function exposed(): Promise<Set<string>> {
  const { text } = await createTelemetryHooks().exposition();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

describe("dashboard and alerts", () => {
  it.each(["grafana/parley.json", "prometheus/alerts.yml"])(
    "%s asks only for figures that exist",
    async (file) => {
      const used = usedIn(file);
      expect(used.size).toBeGreaterThan(6);
      const known = await exposed();
      expect([...used].filter((name) => !known.has(name))).toEqual([]);
    },
  );

  it("show every figure of Parley's own somewhere", async () => {
    const used = new Set([...usedIn("grafana/parley.json"), ...usedIn("prometheus/alerts.yml")]);
    const base = (name: string) => name.replace(/_(bucket|sum|count)$/, "");
    const shown = new Set([...used].map(base));
    const own = [...(await exposed())].filter((name) => name.startsWith("parley_"));
    expect([...new Set(own.map(base))].filter((name) => !shown.has(name))).toEqual([]);
  });
});
