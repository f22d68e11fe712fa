import { useId, useMemo, useRef, useState } from 'preact/hooks';
import type { SendableEvent } from '../../../src/inspection/wire.ts';
import { type Draft, readDraft } from './draft.ts';
import { FieldInput } from './field-input.tsx';
import { fieldOf } from './schema-fields.ts';
import { SendButton } from './send-button.tsx';

interface SchemaFormProps {
  readonly event: SendableEvent;
  /** What holds now, in the shape of the event: shown where nothing is typed. */
  readonly current: unknown;
  readonly isBusy: boolean;
  /** Gives whether it was told: then the form is empty again. */
  readonly onSend: (event: unknown) => Promise<boolean>;
}

const EMPTY: Draft = {};

/** A form for one event, made from its JSON Schema. */
export function SchemaForm({ event, current, isBusy, onSend }: SchemaFormProps) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [tried, setTried] = useState(false);
  const field = useMemo(() => fieldOf(event.schema), [event.schema]);
  const { value, problems } = readDraft(field, draft);
  const wrong = Object.keys(problems).length;

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    if (wrong > 0) {
      setTried(true);
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    if (!(await onSend(value))) return;
    setDraft(EMPTY);
    setTried(false);
  }

  return (
    <form ref={form} class="schema-form" aria-label={event.type} noValidate onSubmit={submit}>
      <FieldInput
        field={field}
        name={event.type}
        path=""
        id={id}
        isRequired
        description=""
        current={current}
        draft={draft}
        problems={tried ? problems : EMPTY}
        onType={(path, typed) => setDraft((before) => ({ ...before, [path]: typed }))}
      />
      {tried && wrong > 0 && (
        <p class="wrong" role="alert">
          {wrong === 1 ? 'One thing is' : `${wrong} things are`} not right yet.
        </p>
      )}
      <SendButton isBusy={isBusy} submits>
        Send {event.type}
      </SendButton>
    </form>
  );
}
