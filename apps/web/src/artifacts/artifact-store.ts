import { create } from "zustand";
import { closeInspector } from "../app/layout/layout-store.js";

/** The kinds of code that can be tried beside the conversation. */
export type ArtifactKind = "html" | "svg";

/** Code that is shown beside the conversation. */
export interface Artifact {
  /** Id of the place that it was opened from. */
  readonly id: string;
  readonly kind: ArtifactKind;
  readonly code: string;
  /** More of it is expected. */
  readonly growing: boolean;
  readonly fileName: string;
}

/** The artifact that is open, if one is. */
export const useArtifact = create<{ readonly artifact?: Artifact | undefined }>()(() => ({}));

/** Returns the kind of artifact that a fence holds, if it holds one. */
export function artifactKind(language: string): ArtifactKind | undefined {
  const name = language.toLowerCase();
  return name === "svg" ? "svg" : name === "html" || name === "htm" ? "html" : undefined;
}

/** Opens an artifact beside the conversation, in place of the inspector. */
export function openArtifact(artifact: Artifact): void {
  closeInspector();
  useArtifact.setState({ artifact });
}

/** Updates the open artifact with the code written since. */
export function updateArtifact(id: string, code: string, growing: boolean): void {
  useArtifact.setState(({ artifact }) =>
    artifact?.id !== id || (artifact.code === code && artifact.growing === growing)
      ? {}
      : { artifact: { ...artifact, code, growing } },
  );
}

/** Closes the artifact. */
export function closeArtifact(): void {
  useArtifact.setState({ artifact: undefined });
}

/** Returns true if the artifact of this place is open. */
export function useIsShownArtifact(id: string): boolean {
  return useArtifact(({ artifact }) => artifact?.id === id);
}
