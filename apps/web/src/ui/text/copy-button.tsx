import { Check, Copy } from "lucide-react";
import { type ReactElement, useEffect, useState } from "react";
import { showToast } from "../../app/toasts.js";
import { IconButton } from "../icon-button.js";

export interface CopyButtonProps {
  /** Text to copy; a function is called when the button is pressed. */
  readonly text: string | (() => string);
  /** Its accessible name. */
  readonly label?: string;
  /** Its icon. Absent: the copy icon. */
  readonly icon?: ReactElement;
  readonly className?: string;
}

/** Copies a text and shows that it did. */
export function CopyButton({ text, label = "Copy", icon, className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    copyText(typeof text === "function" ? text() : text).then(
      () => setCopied(true),
      () => showToast({ message: "The browser did not allow copying. Select the text and copy it by hand." }),
    );
  };
  return (
    <IconButton
      label={copied ? "Copied" : label}
      icon={copied ? <Check aria-hidden /> : (icon ?? <Copy aria-hidden />)}
      size="small"
      onClick={copy}
      {...(className === undefined ? {} : { className })}
    />
  );
}

/** Puts a text on the clipboard, also if the page was not served over TLS. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("readonly", "");
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("copying was refused");
}
