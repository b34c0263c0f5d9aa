export type { ObjectPlace } from "./object-place.js";
export { openS3, type S3Options } from "./s3.js";
export { withObjectPlace } from "./with-object-place.js";
