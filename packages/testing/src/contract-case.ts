/**
 * One guarantee of a contract, as a function that rejects if it is broken. Any test runner can take it:
 *
 * ```ts
 * for (const { name, run } of conversationStoreContract(makeStore)) it(name, run);
 * ```
 */
export interface ContractCase {
  /** Description of the behavior. */
  readonly name: string;
  /** Set if only Parley's own implementations guarantee this; see `baseCases`. */
  readonly parleyOnly?: boolean;
  /** Resolves if the guarantee is kept. */
  run(): Promise<void>;
}

/** A broken guarantee of a contract. */
export class ContractViolation extends Error {
  override readonly name = "ContractViolation";
}

/** Returns the cases that every implementation of the port has to pass, also one of another author. */
export function baseCases(cases: readonly ContractCase[]): ContractCase[] {
  return cases.filter((each) => each.parleyOnly !== true);
}

/** Result of running a list of cases. */
export interface ContractReport {
  readonly passed: readonly string[];
  readonly failed: readonly { readonly name: string; readonly error: unknown }[];
}

/** Runs cases one after the other, for use without a test runner. Never rejects. */
export async function runCases(cases: readonly ContractCase[]): Promise<ContractReport> {
  const passed: string[] = [];
  const failed: { name: string; error: unknown }[] = [];
  for (const { name, run } of cases) {
    try {
      await run();
      passed.push(name);
    } catch (error) {
      failed.push({ name, error });
    }
  }
  return { passed, failed };
}

/** Throws a `ContractViolation` with the message unless the condition holds. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ContractViolation(message);
}

/** Throws a `ContractViolation` that shows both values unless they are equal, deeply. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  if (deepEqual(actual, expected)) return;
  throw new ContractViolation(`${what}: expected ${shown(expected)}, got ${shown(actual)}`);
}

/** Waits for a rejection and returns its reason; throws a `ContractViolation` if there is none. */
export async function checkRejects(promise: Promise<unknown>, what: string): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new ContractViolation(`${what}: expected a rejection`);
}

/**
 * Returns true if two values of plain data are equal: dates by their time, typed arrays by their bytes, a property
 * that is `undefined` like one that is absent.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (left instanceof Date || right instanceof Date) {
    return left instanceof Date && right instanceof Date && Object.is(left.getTime(), right.getTime());
  }
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (ArrayBuffer.isView(left) !== ArrayBuffer.isView(right)) return false;
  const a = left as Record<string, unknown>;
  const b = right as Record<string, unknown>;
  if (Array.isArray(left) && left.length !== (right as unknown[]).length) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of names) if (!deepEqual(a[name], b[name])) return false;
  return true;
}

function shown(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  text ??= String(value);
  return text.length <= 2_000 ? text : `${text.slice(0, 2_000)}...`;
}
