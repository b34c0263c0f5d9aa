// The server of a scenario in its own process, so that only the client's CPU is counted.
const [scenarioName, caseName] = process.argv.slice(2);
const { scenario } = await import(`./scenarios/${scenarioName}.mjs`);
const benchCase = scenario.cases.find((each) => each.name === caseName);
const url = await scenario.startServer(benchCase.options ?? {});
process.on("disconnect", () => process.exit());
process.send({ url });
