export type { ByteSource, HttpResponse } from "./http-response.js";
