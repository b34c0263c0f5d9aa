export { sizeText } from "@parley/fold";
export { type FileOfMessage, fileAddress, fileParts, queuedText, signedFileUrl } from "./file-address.js";
export { readFile } from "./read-file.js";
export { type UploadableFile, type UploadFileOptions, uploadFile } from "./upload-file.js";
export { createUploads, type Upload, type Uploads, type UploadsOptions } from "./uploads.js";
