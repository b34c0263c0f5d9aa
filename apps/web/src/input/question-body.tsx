import { useMemo, useState } from "react";
import { Button } from "../ui/button.js";
import { CardForm, DenyForm, KeyButton } from "./card-form.js";
import { FieldForm } from "./field-form.js";
import { draftOf, fieldsOfSchema, readDraft } from "./form-fields.js";
import { type OpenRequest, useKept } from "./use-request.js";

/** The form for an answer to a question. */
export function QuestionBody({ open }: { readonly open: OpenRequest }) {
  const { details, isSending, lacks, respond } = open;
  const { requestId, schema } = details;
  const fields = useMemo(() => fieldsOfSchema(schema), [schema]);
  const [draft, setDraft] = useKept(requestId, "answer", () => draftOf(fields));
  const [isDenying, setDenying] = useKept(requestId, "denying", () => false);
  const [isTried, setTried] = useState(false);
  const reading = useMemo(() => readDraft(fields, draft), [fields, draft]);
  if (lacks !== undefined) return null;
  if (isDenying) return <DenyForm open={open} label="Decline to answer" onBack={() => setDenying(false)} />;
  const send = () => {
    setTried(true);
    if (reading.ok && !isSending) respond({ decision: "answer", value: reading.value });
  };
  return (
    <CardForm label="Your answer" onSubmit={send}>
      <FieldForm
        fields={fields}
        draft={draft}
        problems={reading.ok || !isTried ? {} : reading.problems}
        onChange={setDraft}
        label="Your answer"
        disabled={isSending}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" tone="primary" disabled={isSending}>
          Answer
        </Button>
        <KeyButton letter="d" tone="quiet" disabled={isSending} onClick={() => setDenying(true)}>
          Decline…
        </KeyButton>
      </div>
    </CardForm>
  );
}
