import { Fragment } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { EventForms } from '../../../src/inspection/wire.ts';
import { type EventField, eventFields, eventOf, type FieldTexts, fieldKey } from '../../fold/event-fields.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { Field, JsonForm, Problem, SubmitForm, type SubmitFormProps, TextField } from './event-forms.tsx';

/** Offered if a machine has no schemas of its events. */
export const OTHER_EVENT = 'another event';

interface ActorEventFormProps extends Pick<SubmitFormProps, 'isBusy' | 'onCancel'> {
  readonly view: PanelView;
  readonly type: string;
  /** The schemas of the machine's events; null if it has none. */
  readonly forms: EventForms | null;
  /** The events that its states accept; undefined if they are not known. */
  readonly accepted: readonly string[] | undefined;
  readonly submit?: string;
  /** Passes on what is wrong with the event. Resolves to whether it was accepted. */
  readonly onSend: (event: unknown, onProblem: (problem: string) => void) => Promise<boolean>;
}

/** The key of the field that the server names: `event.amount: Too big`; and what is wrong. */
function fieldProblem(text: string, fields: readonly EventField[]) {
  const [, name, problem = text] = /^event\.([^:]+): (.*)$/su.exec(text) ?? [];
  const field = fields.find(({ path }) => path.join('.') === name);
  return field === undefined ? { key: null, problem: text } : { key: fieldKey(field), problem };
}

/** Sends one event to an actor: with a field for each member that its schema names, or else as JSON. */
export function ActorEventForm(props: ActorEventFormProps) {
  const { view, type, forms, accepted, submit: words, isBusy, onSend, onCancel } = props;
  const id = useId();
  const form = useRef<HTMLDivElement>(null);
  const schema = forms !== null && Object.hasOwn(forms, type) ? forms[type] : undefined;
  const fields = schema === undefined ? null : eventFields(schema);
  const [texts, setTexts] = useState<FieldTexts>({});
  const [wrong, setWrong] = useState<ReturnType<typeof fieldProblem> | null>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [wrong]);
  const send = (event: unknown): Promise<boolean> => {
    setWrong(null);
    return onSend(event, (problem) => setWrong(fieldProblem(problem, fields ?? [])));
  };
  const clear = (): void => setWrong(null);
  const rest = <Problem text={wrong?.key === null ? excerpt(wrong.problem, 400) : ''} />;
  if (fields === null)
    return (
      <div class="stack" onInput={clear}>
        <JsonForm
          given={givenEvent(view, type)}
          accepted={accepted}
          submit={words}
          isBusy={isBusy}
          onSend={send}
          onCancel={onCancel}
        />
        {rest}
      </div>
    );

  function submit(): void {
    const made = eventOf(type, fields ?? [], texts);
    if ('event' in made) void send(made.event);
    else setWrong({ key: fieldKey(made.field), problem: made.problem });
  }

  return (
    <div ref={form} onInput={clear}>
      <SubmitForm
        label={`Event ${excerpt(type, 80)}`}
        isBusy={isBusy}
        submit={words ?? `Send ${excerpt(type, 60)}`}
        onSubmit={submit}
        onCancel={onCancel}
      >
        {fields.map((field) => {
          const key = fieldKey(field);
          return (
            <Fragment key={key}>
              <FieldInput
                field={field}
                text={texts[key] ?? field.initial}
                wrong={wrong?.key === key ? id : undefined}
                onText={(text) => setTexts((before) => ({ ...before, [key]: text }))}
              />
              {wrong?.key === key && <Problem id={id} text={excerpt(wrong.problem, 400)} />}
            </Fragment>
          );
        })}
        {rest}
      </SubmitForm>
    </div>
  );
}

/** The last event of this type that the actor received, as JSON; if there is none, only its type. */
function givenEvent({ log, fold }: PanelView, type: string): string {
  for (const seq of fold.entries.of('delivery').toReversed()) {
    const { event } = log.entry(seq) as { readonly event?: { readonly type?: unknown } };
    const text = event?.type === type ? JSON.stringify(event, null, 2) : '';
    // An encoded value cannot be sent.
    if (text !== '' && !text.includes('"$type"')) return text;
  }
  return `{ "type": ${JSON.stringify(type === OTHER_EVENT ? '' : type.replace(/\*$/u, ''))} }`;
}

interface FieldInputProps {
  readonly field: EventField;
  readonly text: string;
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
