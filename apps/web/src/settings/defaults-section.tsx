import { useId, useState } from "react";
import { offeredEfforts } from "../app/efforts.js";
import { useModels } from "../app/models.js";
import { showToast } from "../app/toasts.js";
import { setDefaults, useDefaultSettings } from "../composer/new-settings.js";
import { Button } from "../ui/button.js";
import { fieldClass } from "../ui/text/text-field.js";
import { ChoiceGroup } from "./choice-group.js";

/** Settings of new conversations. Existing conversations keep their own settings. */
export function DefaultsSection() {
  const models = useModels();
  const defaults = useDefaultSettings();
  const [instructions, setInstructions] = useState(defaults.instructions ?? "");
  const modelId = useId();
  const textId = useId();
  const names = models?.models ?? [];
  // A model that is not offered any more stays visible: new conversations would use it.
  const all = defaults.model === null || names.includes(defaults.model) ? names : [defaults.model, ...names];
  const model = defaults.model ?? models?.defaultModel;
  const offered = offeredEfforts(models, model, defaults.reasoningEffort);
  const isChanged = instructions !== (defaults.instructions ?? "");
  return (
    <>
      <div className="mb-6 flex flex-col gap-1.5">
        <label htmlFor={modelId} className="text-sm font-medium">
          Model
        </label>
        <select
          id={modelId}
          className={fieldClass}
          value={defaults.model ?? ""}
          onChange={({ target }) => setDefaults({ model: target.value === "" ? null : target.value })}
        >
          <option value="">
            {models?.defaultModel === undefined
              ? "The server's default"
              : `The server's default (${models.defaultModel})`}
          </option>
          {all.map((name) => (
            <option key={name} value={name}>
              {models === undefined || names.includes(name) ? name : `${name} (not offered any more)`}
            </option>
          ))}
        </select>
      </div>
      {offered.choices.length === 0 ? (
        <p className="mb-6 text-sm text-soft">
          <span className="block font-medium text-ink">Reasoning effort</span>
          {model} takes none: it would have no effect.
        </p>
      ) : (
        <ChoiceGroup
          label="Reasoning effort"
          hint={
            offered.isKnown || models === undefined
              ? "How much the model thinks before it answers."
              : "How much the model thinks before it answers, if it can (unknown for this model)."
          }
          value={defaults.reasoningEffort ?? "default"}
          choices={offered.choices}
          onChange={(value) => setDefaults({ reasoningEffort: value === "default" ? null : value })}
        />
      )}
      <form
        className="flex flex-col gap-1.5"
        onSubmit={(event) => {
          event.preventDefault();
          setDefaults({ instructions: instructions.trim() === "" ? null : instructions });
          showToast({ message: "Saved. New conversations start with these instructions." });
        }}
      >
        <label htmlFor={textId} className="text-sm font-medium">
          Instructions
        </label>
        <textarea
          id={textId}
          dir="auto"
          rows={6}
          value={instructions}
          onChange={({ target }) => setInstructions(target.value)}
          placeholder="Empty: the server's own."
          className={`${fieldClass} min-h-32 resize-y`}
        />
        <div className="flex justify-end">
          <Button type="submit" tone="primary" disabled={!isChanged}>
            Save
          </Button>
        </div>
      </form>
    </>
  );
}
