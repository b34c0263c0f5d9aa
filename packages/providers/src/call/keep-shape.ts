const kept: object[] = [];

/**
 * Keeps one object of a shape alive permanently. The engine discards optimized code when a full collection
 * finds no object left of a shape that the code was made for, and between two answers nothing of a stream is
 * left: the next one would start in the interpreter. Measured on Node 20, where every stream follows a full
 * collection:
 * 2.3 us per delta with the shapes of the hot path kept, 3.9 us without.
 *
 * Pass only samples, never data of a conversation.
 */
export function keepShape(sample: object): void {
  kept.push(sample);
}
