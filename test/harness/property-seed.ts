import fc from "fast-check";

/**
 * Property tests make the same cases in every run, so that the same commit always gets the same verdict. `npm run
 * explore` tries new cases; a seed that it names is tried again with this variable.
 */
fc.configureGlobal({ seed: Number(process.env.PARLEY_PROPERTY_SEED ?? 20_261_116) });
