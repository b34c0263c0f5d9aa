import { useMemo, useState } from "react";
import { Button } from "../ui/button.js";
import { argumentChanges, parseArguments } from "./argument-changes.js";
import { ChangeList } from "./argument-list.js";
import { CardForm, KeyButton } from "./card-form.js";
import { FieldForm } from "./field-form.js";
import { draftOf, type FormField, fieldsOfValue, readDraft } from "./form-fields.js";
import { type OpenRequest, useKept } from "./use-request.js";

const wholeField: FormField = { key: "[]", path: [], kind: "json", required: true, mayBeEmpty: true };

interface EditFormProps {
  readonly open: OpenRequest;
  readonly onBack: () => void;
  /** The changed arguments; undefined if they are unchanged. */
  readonly onAllow: (argumentsText: string | undefined) => void;
}

/** Changes the arguments before the call runs, and shows what was changed. */
export function EditForm({ open, onBack, onAllow }: EditFormProps) {
  const { details, isSending, lacks } = open;
  const { requestId, argumentsText } = details;
  const value = useMemo(() => parseArguments(argumentsText), [argumentsText]);
  const [isJson, setJson] = useKept(requestId, "json", () => value === undefined);
  const fields = useMemo(
    () => (isJson || value === undefined ? [wholeField] : fieldsOfValue(value)),
    [isJson, value],
  );
  const [draft, setDraft] = useKept(requestId, "draft", () =>
    value === undefined ? { [wholeField.key]: argumentsText } : draftOf(fields, value),
  );
  const [isTried, setTried] = useState(false);
  const reading = useMemo(() => readDraft(fields, draft), [fields, draft]);
  const changes = reading.ok && value !== undefined ? argumentChanges(value, reading.value) : [];
  const allow = () => {
    setTried(true);
    if (!reading.ok || isSending || lacks !== undefined) return;
    onAllow(value !== undefined && changes.length === 0 ? undefined : JSON.stringify(reading.value));
  };
  const switchForm = () => {
    const now = reading.ok ? reading.value : value;
    if (now === undefined) return;
    setDraft(draftOf(isJson ? fieldsOfValue(now) : [wholeField], now));
    setJson(!isJson);
  };
  return (
    <CardForm takesFocus label="Edit the arguments" onSubmit={allow}>
      <FieldForm
        fields={fields}
        draft={draft}
        problems={reading.ok || !isTried ? {} : reading.problems}
        onChange={setDraft}
        label="Arguments"
        disabled={isSending}
      />
      {value !== undefined && (
        <Button size="small" tone="quiet" onClick={switchForm}>
          {isJson ? "Edit as fields" : "Edit as JSON"}
        </Button>
      )}
      <div aria-live="polite">
        {changes.length > 0 && (
          <>
            <p className="mb-1.5 text-xs font-medium text-faint">
              Your changes; the model is informed of them
            </p>
            <ChangeList changes={changes} />
          </>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" tone="primary" disabled={isSending || lacks !== undefined}>
          {changes.length === 0 && reading.ok ? "Allow unchanged" : "Allow with changes"}
        </Button>
        <KeyButton letter="escape" tone="quiet" onClick={onBack}>
          Back
        </KeyButton>
      </div>
    </CardForm>
  );
}
