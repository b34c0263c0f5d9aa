/**
 * Numbers of a response's events. They are a function of the content, because the log does not keep where one delta
 * ended and the next began: each item has a range of its own, in which its first and last events have fixed places and
 * a delta is numbered by where it ends in the text. So a number means the same live, after the commit, after the seal
 * and on another node; any number inside a text cuts it exactly there; and the content of one item never moves the
 * numbers of another.
 */

/** The range of one item: more than any text is long. */
const itemRange = 2 ** 26;

/** The first two events. */
export const createdNumber = 0;
export const inProgressNumber = 1;

/** Fixed places of an item's events, from its end. */
const fromEnd = { itemDone: 1, partDone: 2, textDone: 3, completed: 4, inProgress: 5 } as const;

/** Returns the number of an item's first event. */
export function addedNumber(outputIndex: number): number {
  return (outputIndex + 1) * itemRange;
}

/** Returns the number of the event that opens an item's text. */
export function partNumber(outputIndex: number): number {
  return addedNumber(outputIndex) + 1;
}

/** Returns the number of a delta that ends at this offset of its text. */
export function deltaNumber(outputIndex: number, end: number): number {
  return partNumber(outputIndex) + Math.min(end, itemRange - 16);
}

/** Returns the number of one of the events that close an item. */
export function closingNumber(outputIndex: number, event: keyof typeof fromEnd): number {
  return addedNumber(outputIndex + 1) - fromEnd[event];
}

/** Returns the number of the last event of a response with `items` items. */
export function endNumber(items: number): number {
  return addedNumber(items);
}

/** Returns the length of an item's text before a number, for a client that resumes there. */
export function textBefore(outputIndex: number, number: number): number {
  return Math.max(0, number - partNumber(outputIndex));
}
