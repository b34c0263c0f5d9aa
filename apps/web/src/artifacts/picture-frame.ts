import { frameWorker } from "./frame-worker.js";

const pictures = frameWorker("/frames/picture.html", 30_000);
/** Allowed types of a fetched picture: formats that hold pixels only. */
const shownTypes = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/** Pictures that were requested in this tab: they are shown again without a request when they scroll back into view. */
const kept = new Map<string, Blob>();
const mostKept = 40;

/** Returns a picture that was fetched before. */
export function keptPicture(address: string): Blob | undefined {
  return kept.get(address);
}

/**
 * Fetches a picture from another host, without cookies and without a referrer. The page's own policy forbids loading
 * from other hosts: a frame without an origin does it, and only when this is called.
 */
export async function fetchPicture(address: string): Promise<Blob> {
  const { picture } = await pictures.ask({ address });
  if (!(picture instanceof Blob) || !shownTypes.test(picture.type)) throw new Error("It is no picture.");
  kept.set(address, picture);
  for (const oldest of [...kept.keys()].slice(0, -mostKept)) kept.delete(oldest);
  return picture;
}
