import { mergeConfig } from "vitest/config";
import config from "./vitest.config.js";

// `npm run test:slow`: whole-path tests that are too slow for `npm test`. `.ci/run` runs both.
const slow = mergeConfig(config, {});
slow.test = { ...slow.test, include: ["test/slow/**/*.test.ts"], exclude: ["**/node_modules/**"] };

export default slow;
