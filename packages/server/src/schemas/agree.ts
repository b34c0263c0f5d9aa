import type { z } from "@hono/zod-openapi";

/** Marks a member that may be absent, so that one side having it and the other not is a difference. */
interface Optional<T> {
  readonly optional: T;
}

/** A type as JSON sees it: `readonly` does not count, and an absent member is not an `undefined` one. */
type Plain<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends readonly (infer Element)[]
      ? Plain<Element>[]
      : {
          -readonly [Key in keyof T]-?: Record<never, never> extends Pick<T, Key>
            ? Optional<Plain<Exclude<T[Key], undefined>>>
            : Plain<T[Key]>;
        };

type Agrees<A, B> = [Plain<A>] extends [Plain<B>] ? ([Plain<B>] extends [Plain<A>] ? true : false) : false;

/**
 * Compares a schema with a type of the wire, both ways: a member that is missing, too many or of another type on
 * either side does not compile. The result is typed by the wire.
 */
export function agree<Wire>() {
  return <Schema extends z.ZodType>(
    schema: Schema &
      (Agrees<z.output<Schema>, Wire> extends true ? unknown : { readonly "differs from the wire": Wire }),
  ): z.ZodType<Wire> => schema as unknown as z.ZodType<Wire>;
}
