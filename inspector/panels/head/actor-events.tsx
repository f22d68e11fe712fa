import { useId, useState } from 'preact/hooks';
import type { EventForms } from '../../../src/inspection/wire.ts';
import { type EventField, eventFields, eventOf, type FieldTexts, fieldKey } from '../../fold/event-fields.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import { type EventFormProps, Field, JsonForm, Problem, SubmitForm, TextField } from './event-forms.tsx';

interface ActorEventFormProps extends EventFormProps {
  readonly type: string;
  /** The schemas of the machine's events; null if it has none. */
  readonly forms: EventForms | null;
}

/** Sends one event to an actor: with a field for each member that its schema names, or else as JSON. */
export function ActorEventForm({ type, forms, isBusy, onSend }: ActorEventFormProps) {
  const id = useId();
  const schema = forms !== null && Object.hasOwn(forms, type) ? forms[type] : undefined;
  const fields = schema === undefined ? null : eventFields(schema);
  const [texts, setTexts] = useState<FieldTexts>({});
  const [wrong, setWrong] = useState<{ readonly key: string; readonly problem: string } | null>(null);
  if (fields === null)
    return (
      <JsonForm given={`{ "type": ${JSON.stringify(type.replace(/\*$/u, ''))} }`} isBusy={isBusy} onSend={onSend} />
    );

  function submit(): void {
    const made = eventOf(type, fields ?? [], texts);
    if ('event' in made) void onSend(made.event);
    setWrong('problem' in made ? { key: fieldKey(made.field), problem: made.problem } : null);
  }

  return (
    <SubmitForm
      label={`Event ${excerpt(type, 80)}`}
      isBusy={isBusy}
      submit={`Send ${excerpt(type, 60)}`}
      onSubmit={submit}
    >
      {fields.map((field) => {
        const key = fieldKey(field);
        return (
          <FieldInput
            key={key}
            field={field}
            text={texts[key] ?? field.initial}
            wrong={wrong?.key === key ? id : undefined}
            onText={(text) => setTexts((before) => ({ ...before, [key]: text }))}
          />
        );
      })}
      <Problem id={id} text={wrong?.problem ?? ''} />
    </SubmitForm>
  );
}

interface FieldInputProps {
  readonly field: EventField;
  readonly text: string;
  /** The id of what is wrong with the text. */
  readonly wrong: string | undefined;
  readonly onText: (text: string) => void;
}

function FieldInput({ field, text, wrong, onText }: FieldInputProps) {
  const { path, kind, isRequired, description, choices } = field;
  const words = [isRequired ? '' : 'optional', kind === 'json' ? 'JSON' : '', excerpt(description, 120)];
  const named = { label: excerpt(path.join('.'), 80), hint: words.filter(Boolean).join(', ') };
  if (kind === 'boolean')
    return (
      <Field {...named}>
        <input
          type="checkbox"
          checked={text === 'true'}
          onChange={({ currentTarget }) => onText(String(currentTarget.checked))}
        />
      </Field>
    );
  if (kind !== 'choice')
    return <TextField {...named} {...(kind === 'json' && { rows: 2 })} value={text} wrong={wrong} onText={onText} />;
  return (
    <Field {...named}>
      <select
        aria-invalid={wrong !== undefined}
        aria-describedby={wrong}
        value={text}
        onChange={({ currentTarget }) => onText(currentTarget.value)}
      >
        <option value="">{isRequired ? 'Choose…' : 'none'}</option>
        {choices.map((choice, index) => (
          <option key={jsonExcerpt(choice, 200)} value={String(index)}>
            {typeof choice === 'string' ? excerpt(choice, 80) : jsonExcerpt(choice, 80)}
          </option>
        ))}
      </select>
    </Field>
  );
}
