import { frameWorker } from "./frame-worker.js";

const pictures = frameWorker("/frames/picture.html", 30_000);
/** What a fetched picture may be: formats that hold pixels only. */
const shownTypes = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/**
 * Fetches a picture from elsewhere, without cookies and without a referrer. The page's own policy lets it load nothing
 * from elsewhere: a frame without an origin does, and only when this is called.
 */
export async function fetchPicture(address: string): Promise<Blob> {
  const { picture } = await pictures.ask({ address });
  if (!(picture instanceof Blob) || !shownTypes.test(picture.type)) throw new Error("It is no picture.");
  return picture;
}
