import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { makeTemporaryFolder } from "./temporary-folder.js";

interface Running {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}
type Server = new (options: object) => Running;

/** A server that implements the S3 API and checks signatures, with one empty bucket. */
export interface S3Server {
  /** The options that reach its bucket. */
  readonly options: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  stop(): Promise<void>;
}

const bucket = "parley-test";

/** Starts a server on a port of its own. */
export async function startS3Server(): Promise<S3Server> {
  const S3rver = createRequire(import.meta.url)("@20minutes/s3rver") as Server;
  const folder = makeTemporaryFolder(tmpdir(), "s3-");
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  return {
    options: {
      endpoint: `http://127.0.0.1:${port}`,
      bucket,
      // The one account that it has.
      accessKeyId: "S3RVER",
      secretAccessKey: "S3RVER",
    },
    async stop() {
      await server.close();
      folder.remove();
    },
  };
}
