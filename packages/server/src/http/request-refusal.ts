import { type ErrorCode, ParleyError, type ParleyErrorOptions } from "@parley/core";
import type { FieldProblem } from "@parley/wire";

/** A refusal with more than its code: another status or title, the fields at fault, headers for the answer. */
export class RequestRefusal extends ParleyError {
  readonly #status: number | undefined;
  readonly errors: readonly FieldProblem[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Set if the title of its code does not fit. */
  readonly title: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: ParleyErrorOptions & {
      readonly status?: number;
      readonly errors?: readonly FieldProblem[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly title?: string;
    } = {},
  ) {
    super(code, message, options);
    this.#status = options.status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.title = options.title;
  }

  override get status(): number {
    return this.#status ?? super.status;
  }
}

/** Returns the refusal of invalid fields. */
export function invalidFields(errors: readonly FieldProblem[]): RequestRefusal {
  const message = errors
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
    .join("; ");
  return new RequestRefusal("invalid_request", message, { errors });
}
