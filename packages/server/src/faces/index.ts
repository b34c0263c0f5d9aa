export type { Authenticate, HostCaller } from "../auth/caller.js";
export { createFaceApp, type FaceOptions } from "./create-face-app.js";
export type { DescribeFailure, Face, FailureShape } from "./face.js";
