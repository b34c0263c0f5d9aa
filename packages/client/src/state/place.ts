/** A cursor taken apart, as far as a client has to look into it: to tell what it has heard already. */
export interface Place {
  readonly seq: number;
  /** Set while a turn is open: its events up to `n`, as told under `epoch`. */
  readonly open?: { readonly turnId: string; readonly epoch: number; readonly n: number };
}

/** Where a cursor stands; undefined for one of a form that this client does not know. */
export function placeOf(cursor: string): Place | undefined {
  const first = cursor.indexOf("~");
  // Behind a dot stands a check, which only the server reads.
  const [digits] = (first === -1 ? cursor : cursor.slice(0, first)).split(".", 1);
  const seq = Number(digits);
  if (!Number.isSafeInteger(seq)) return undefined;
  if (first === -1) return { seq };
  const [turnId = "", epoch, n] = cursor.slice(first + 1).split("~");
  return { seq, open: { turnId, epoch: Number(epoch), n: Number(n) } };
}

/** Whether a place lies before another one, so that coming to it now would be going back. */
export function isBefore(place: Place, other: Place): boolean {
  if (place.seq !== other.seq) return place.seq < other.seq;
  const { open } = place;
  if (open === undefined || open.turnId !== other.open?.turnId) return false;
  return open.epoch < other.open.epoch || (open.epoch === other.open.epoch && open.n < other.open.n);
}

/** Whether an event at this place was heard by one who has come as far as `heard`. */
export function wasHeard(place: Place, heard: Place | undefined): boolean {
  const { open } = place;
  if (open === undefined || heard?.open === undefined) return false;
  if (open.epoch !== heard.open.epoch) return open.epoch < heard.open.epoch;
  return open.n <= heard.open.n;
}
