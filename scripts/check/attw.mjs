// attw: every user of a package gets its types, however they resolve modules (ESM only, as the packages are).
import { buildProblems } from "./context.mjs";

export const about = "published types resolve (attw, ESM only)";

export async function run(context) {
  const problems = await buildProblems(context);
  if (problems.length > 0) return { problems };
  // A program or a page has no types to resolve: nothing imports it.
  const imported = context
    .packages()
    .filter(({ manifest }) => Object.keys(manifest.exports ?? {}).some((path) => path !== "./package.json"));
  const results = await Promise.all(
    imported.map(async ({ folder }) => {
      const archive = await context.pack(folder);
      const args = [archive, "--profile", "esm-only", "--no-emoji", "--format", "ascii"];
      const { code, output } = await context.runTool([
        "node_modules/@arethetypeswrong/cli/dist/index.js",
        ...args,
      ]);
      return code === 0 ? [] : [`${folder}:\n${output}`];
    }),
  );
  return {
    problems: results.flat(),
    note: `${results.length} packages`,
    advice: "Compare `exports` in package.json with what lies in dist/.",
  };
}
