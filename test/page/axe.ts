import axe from "axe-core";
import type { Tab } from "./tab.js";

/** Returns everything that axe finds, or what one of its rules finds, by rule and place. */
export async function findings(tab: Tab, rule?: string): Promise<string[]> {
  if (!(await tab.page.evaluate(() => "axe" in window))) await tab.page.evaluate(axe.source);
  const violations = await tab.page.evaluate(async (only) => {
    const { axe: runner } = window as unknown as { axe: typeof import("axe-core") };
    const chosen = only === undefined ? {} : { runOnly: [only] };
    return (await runner.run(document, { resultTypes: ["violations"], ...chosen })).violations;
  }, rule);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
  );
}
