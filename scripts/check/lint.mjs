// Biome: lint and format.
export const about = "lint and format (Biome)";

export async function run(context) {
  const biome = "node_modules/@biomejs/biome/bin/biome";
  const { code, output } = await context.runTool([
    biome,
    "ci",
    "--colors=off",
    "--error-on-warnings",
    "--max-diagnostics=20",
    ".",
  ]);
  return { problems: code === 0 ? [] : [output], advice: "`npm run format` mends most of it." };
}
