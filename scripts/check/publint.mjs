// publint: the published content of each package matches its manifest.
import { buildProblems } from "./context.mjs";

export const about = "published packages are well formed (publint)";

export async function run(context) {
  const problems = await buildProblems(context);
  if (problems.length > 0) return { problems };
  const results = await Promise.all(
    context.packages().map(async ({ folder }) => {
      const archive = await context.pack(folder);
      const { code, output } = await context.runTool([
        "node_modules/publint/src/cli.js",
        "run",
        archive,
        "--strict",
      ]);
      return code === 0 ? [] : [`${folder}:\n${output}`];
    }),
  );
  return {
    problems: results.flat(),
    note: `${results.length} packages`,
    advice: "The names in the messages are explained at publint.dev/rules.",
  };
}
