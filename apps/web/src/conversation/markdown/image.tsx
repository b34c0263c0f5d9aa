import { ExternalLink, Image, ImageOff } from "lucide-react";
import { useEffect, useState } from "react";
import { fetchPicture, keptPicture } from "../../artifacts/picture-frame.js";
import { Button } from "../../ui/button.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { imageSource } from "./safe-image.js";
import { safeHref } from "./safe-link.js";

/**
 * A picture in an untrusted text. A local picture is shown. A remote one is loaded only when the user asks for it,
 * because its host would learn who reads this and when; it is fetched without cookies and without a referrer.
 */
export function MarkdownImage({ address, name }: { readonly address: string; readonly name: string }) {
  const source = imageSource(address, location.origin);
  const label = name === "" ? "picture" : name;
  if (source === undefined) return <OtherAddress address={address} label={label} />;
  if (source.kind === "own") return <ShownPicture address={source.address} name={name} />;
  return <RemotePicture key={source.address} {...source} name={name} />;
}

/** An address that no picture is loaded from: a link if it can be followed. */
function OtherAddress({ address, label }: { readonly address: string; readonly label: string }) {
  const href = safeHref(address);
  if (href === undefined || href.startsWith("mailto:")) return <span className="md-nolink">{label}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="md-image" dir="auto">
      <Image aria-hidden />
      {label}
      <ExternalLink aria-hidden />
    </a>
  );
}

function ShownPicture({ address, name }: { readonly address: string; readonly name: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) {
    return (
      <span className="md-image">
        <ImageOff aria-hidden />
        {name === "" ? "A picture that cannot be shown" : name}
      </span>
    );
  }
  return (
    <img
      src={address}
      alt={name}
      loading="lazy"
      decoding="async"
      referrerPolicy="no-referrer"
      className="md-picture"
      onError={() => setBroken(true)}
    />
  );
}

type Loading =
  | { readonly phase: "asked" | "loading" | "failed" }
  | { readonly phase: "shown"; readonly address: string };

function RemotePicture({
  address,
  host,
  name,
}: {
  readonly address: string;
  readonly host: string;
  readonly name: string;
}) {
  const [state, setState] = useState<Loading>(() => {
    const picture = keptPicture(address);
    return picture === undefined
      ? { phase: "asked" }
      : { phase: "shown", address: URL.createObjectURL(picture) };
  });
  const shown = state.phase === "shown" ? state.address : undefined;
  useEffect(() => () => void (shown === undefined || URL.revokeObjectURL(shown)), [shown]);
  if (state.phase === "shown") return <ShownPicture address={state.address} name={name} />;
  if (state.phase === "failed")
    return (
      <OtherAddress
        address={address}
        label={`${name === "" ? "picture" : name} (${host} does not give it to other pages)`}
      />
    );
  const load = () => {
    setState({ phase: "loading" });
    fetchPicture(address).then(
      (picture) => setState({ phase: "shown", address: URL.createObjectURL(picture) }),
      () => setState({ phase: "failed" }),
    );
  };
  return (
    <span className="md-remote">
      {name !== "" && <bdi>{name}</bdi>}
      <Button size="small" disabled={state.phase === "loading"} onClick={load}>
        {state.phase === "loading" ? (
          <Spinner label="Loading the picture" />
        ) : (
          <Image aria-hidden className="size-3.5" />
        )}
        Load picture from {host}
      </Button>
    </span>
  );
}
