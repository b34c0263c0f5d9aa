export type { MoveProgress } from "../moving/copy-tables.js";
export { type MoveOptions, type MoveResult, moveToPostgres } from "../moving/move-to-postgres.js";
export { chooseEngine, type EmbeddedEngine, type EngineChoice, engineOf } from "./choose-engine.js";
export { type EmbeddedOptions, type OpenedEmbedded, openEmbedded } from "./open-embedded.js";
