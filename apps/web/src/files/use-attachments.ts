import type { Upload, Uploads } from "@parley/client/files";
import { useClient } from "@parley/client/react";
import type { UploadInfo } from "@parley/wire";
import { useState, useSyncExternalStore } from "react";
import { draftUploads } from "./draft-files.js";
import { useDropTarget } from "./file-drop.js";

/** The files of a message that is being written. */
export interface Attachments {
  readonly uploads: Uploads;
  readonly list: readonly Upload[];
  /** The reason why they were not sent, since the attempt. */
  readonly problem: string | undefined;
  /** Takes the files, to be sent. Undefined if one of them is not ready; `problem` has the reason. */
  take(): readonly UploadInfo[] | undefined;
}

/** Returns the files of a draft. Files that are dropped on the page are added to them. */
export function useAttachments(draftKey: string): Attachments {
  const client = useClient();
  const uploads = draftUploads(client, draftKey);
  useDropTarget(uploads.add);
  const list = useSyncExternalStore(uploads.subscribe, uploads.getState);
  return useSendable(uploads, list);
}

/** Returns a list of uploads as attachments to send. */
export function useSendable(uploads: Uploads, list: readonly Upload[]): Attachments {
  const [said, setSaid] = useState<string>();
  return {
    uploads,
    list,
    problem: said !== undefined && said === problemOf(list) ? said : undefined,
    take() {
      const problem = problemOf(uploads.getState());
      setSaid(problem);
      return problem === undefined ? uploads.take() : undefined;
    },
  };
}

/** Returns the reason why files cannot be sent yet. */
function problemOf(list: readonly Upload[]): string | undefined {
  if (list.some(({ status }) => status === "failed"))
    return "Not sent: a file was not uploaded. Retry it or remove it.";
  if (list.some(({ status }) => status === "expired"))
    return "Not sent: a file has expired. Attach it again or remove it.";
  if (list.some(({ status }) => status !== "ready")) return "Not sent yet: files are still being uploaded.";
  return undefined;
}
