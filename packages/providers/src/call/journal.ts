/** Values in the order in which they were added, each once. It can be truncated to an earlier size. */
export class Journal<Value> {
  readonly #known = new Set<Value>();
  readonly #values: Value[] = [];

  get size(): number {
    return this.#values.length;
  }

  /** In order. */
  get values(): readonly Value[] {
    return this.#values;
  }

  has(value: Value): boolean {
    return this.#known.has(value);
  }

  add(value: Value): void {
    if (this.#known.has(value)) return;
    this.#known.add(value);
    this.#values.push(value);
  }

  /** Removes all values but the first `size`. */
  cut(size: number): void {
    for (const value of this.#values.splice(size)) this.#known.delete(value);
  }
}
