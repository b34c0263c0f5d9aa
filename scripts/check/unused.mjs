// knip: unused exports, files and dependencies, and undeclared dependencies.
export const about = "unused exports, files and dependencies (knip)";

export async function run(context) {
  const { code, output } = await context.runTool([
    "node_modules/knip/bin/knip.js",
    "--no-progress",
    "--treat-config-hints-as-errors",
  ]);
  return {
    problems: code === 0 ? [] : [output],
    advice: "Remove it, use it, or (for an entry that nothing imports) name it in knip.json.",
  };
}
