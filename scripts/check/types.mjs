// Packages, tests and test harness compile.
export const about = "TypeScript, strict, packages and tests";

export async function run(context) {
  const packages = await context.build();
  // The root project adds the tests; with broken packages it would only repeat their errors.
  const { code, output } =
    packages.code === 0 ? await context.runTool(["node_modules/typescript/bin/tsc", "-b"]) : packages;
  return { problems: code === 0 ? [] : [output], advice: "Run `npx tsc -b` for the same list." };
}
