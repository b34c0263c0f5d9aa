import { frameWorker } from "./frame-worker.js";

const pictures = frameWorker("/frames/picture.html", 30_000);
/** What a fetched picture may be: formats that hold pixels only. */
const shownTypes = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/** Pictures that were asked for in this tab: who asked once sees them again when they scroll back. */
const kept = new Map<string, Blob>();
const mostKept = 40;

/** A picture that was fetched before. */
export function keptPicture(address: string): Blob | undefined {
  return kept.get(address);
}

/**
 * Fetches a picture from elsewhere, without cookies and without a referrer. The page's own policy lets it load nothing
 * from elsewhere: a frame without an origin does, and only when this is called.
 */
export async function fetchPicture(address: string): Promise<Blob> {
  const { picture } = await pictures.ask({ address });
  if (!(picture instanceof Blob) || !shownTypes.test(picture.type)) throw new Error("It is no picture.");
  kept.set(address, picture);
  for (const oldest of [...kept.keys()].slice(0, -mostKept)) kept.delete(oldest);
  return picture;
}
