// The base packages have no runtime dependencies.
export const about = "wire, fold, http and core have no runtime dependencies";

const bare = ["packages/wire", "packages/fold", "packages/http", "packages/core"];
const kinds = ["dependencies", "peerDependencies", "optionalDependencies"];

export async function run(context) {
  const names = context.packages().map(({ manifest }) => manifest.name);
  const problems = context
    .packages()
    .filter(({ folder }) => bare.includes(folder))
    .flatMap(({ folder, manifest }) =>
      kinds.flatMap((kind) =>
        Object.keys(manifest[kind] ?? {})
          .filter((name) => !names.includes(name))
          .map((name) => `${folder}/package.json: ${kind} has ${name}`),
      ),
    );
  return {
    problems,
    advice: "Write the little that is needed, or move the code to a package that may depend on others.",
  };
}
