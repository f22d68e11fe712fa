import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { acceptsEvent } from '../../fold/event-fields.ts';
import { PHASE_NAMES } from '../../fold/format.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';

/** Props of a form that sends one event. `onSend` resolves to whether the run accepted the event. */
export interface EventFormProps {
  readonly isBusy: boolean;
  readonly onSend: (event: unknown) => Promise<boolean>;
}

interface SendButtonProps {
  readonly isBusy: boolean;
  readonly submits?: boolean;
  /** What the terminal preselects. */
  readonly isPrimary?: boolean;
  readonly isDanger?: boolean;
  readonly onSend?: () => void;
  readonly children: ComponentChildren;
}

/** A button that sends an event. The second click of a double click does nothing, even if the first send has finished. */
export function SendButton(props: SendButtonProps) {
  const { isBusy, submits = false, isPrimary = submits, isDanger = false, onSend, children } = props;
  return (
    <button
      type={submits ? 'submit' : 'button'}
      class={isDanger ? 'danger' : isPrimary ? 'primary' : ''}
      aria-disabled={isBusy}
      onClick={(event) => {
        if (isBusy || event.detail > 1) event.preventDefault();
        else onSend?.();
      }}
    >
      {children}
    </button>
  );
}

export interface SubmitFormProps {
  readonly label: string;
  readonly class?: string;
  readonly isBusy: boolean;
  readonly submit: ComponentChildren;
  /** What must be done before it can be submitted. */
  readonly missing?: string;
  /** Why submitting it has no effect. */
  readonly warning?: string;
  readonly onSubmit: () => void;
  readonly onCancel?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** A form with one button, which Enter presses, and a second one to cancel if it can be closed, as Escape does. */
export function SubmitForm(form: SubmitFormProps) {
  const { label, isBusy, submit, missing = '', warning = '', onSubmit, onCancel, children, ...props } = form;
  return (
    <form
      {...props}
      aria-label={label}
      onSubmit={(submitted) => {
        submitted.preventDefault();
        if (!isBusy && missing === '') onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || onCancel === undefined) return;
        event.preventDefault();
        onCancel();
      }}
    >
      {children}
      {warning !== '' && (
        <p class="warn verbatim" role="status">
          {warning}
        </p>
      )}
      <div class="row">
        <SendButton isBusy={isBusy || missing !== ''} submits isPrimary={warning === ''}>
          {submit}
        </SendButton>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <span class="muted verbatim">{missing}</span>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}

export const Field = ({ label, hint, children }: FieldProps) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: its children contain the control
  <label class="field">
    <span>
      {label} {hint !== undefined && <span class="muted">{hint}</span>}
    </span>
    {children}
  </label>
);

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
  /** The id of what is wrong with the text. */
  readonly wrong?: string | undefined;
  readonly isNumber?: boolean;
}

export function TextField({ label, hint, onText, rows, wrong, isNumber = false, ...props }: TextFieldProps) {
  const control = {
    ...props,
    dir: 'auto',
    spellcheck: false,
    'aria-invalid': wrong !== undefined,
    'aria-describedby': wrong,
  } as const;
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {rows !== undefined ? (
        <textarea {...control} rows={rows} onInput={({ currentTarget }) => onText(currentTarget.value)} />
      ) : (
        <input
          {...control}
          type="text"
          autocomplete="off"
          {...(isNumber && { inputMode: 'decimal', pattern: NUMBER, title: 'A number' })}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      )}
    </Field>
  );
}

const NUMBER = '\\s*-?\\d+(\\.\\d+)?\\s*';

export function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

const FINISH = 'finish';

interface DirectFormProps extends EventFormProps {
  readonly proposal: string;
  /** What is preselected: a phase, or "finish". */
  readonly recommended: string;
  readonly questionId: string;
}

/** `run.directed` continues with a phase, with an optional instruction; `run.finished` ends the run. */
export function DirectForm({ proposal, recommended, questionId, isBusy, onSend }: DirectFormProps) {
  const [selected, choose] = useState<string | null>(null);
  const [prompt, setPrompt] = useState('');
  const offered = [...PHASE_NAMES, FINISH];
  const phase = selected ?? offered.find((name) => name === recommended) ?? 'action';

  async function submit(): Promise<void> {
    const typed = prompt.trim();
    const answer =
      phase === FINISH
        ? { type: 'run.finished' }
        : { type: 'run.directed', phase, ...(typed !== '' && { prompt: typed }) };
    if (await onSend({ ...answer, questionId })) setPrompt('');
  }

  return (
    <SubmitForm
      label="Continue with a phase"
      isBusy={isBusy}
      submit={phase === FINISH ? 'Finish the run' : `Continue with ${phase}`}
      onSubmit={submit}
    >
      <div class="row" role="radiogroup" aria-label="Phase">
        {offered.map((name) => (
          <label key={name}>
            <input type="radio" name="phase" value={name} checked={name === phase} onChange={() => choose(name)} />{' '}
            {name}
            {name === recommended && recommended === FINISH && <span class="muted"> recommended</span>}
            {name === proposal && <span class="muted"> proposed</span>}
          </label>
        ))}
      </div>
      {phase !== FINISH && <TextField label="Instruction" hint="optional" rows={1} value={prompt} onText={setPrompt} />}
    </SubmitForm>
  );
}

/** `run.cancelled`, with an optional reason. */
export function CancelForm({ isBusy, onSend }: EventFormProps) {
  const [reason, setReason] = useState('');
  const submit = () => void onSend({ type: 'run.cancelled', ...(reason.trim() !== '' && { reason: reason.trim() }) });
  return (
    <SubmitForm label="Cancel" isBusy={isBusy} submit="Cancel the run" onSubmit={submit}>
      <p>The run ends now, with the best answer that it has so far.</p>
      <TextField label="Reason" hint="optional" value={reason} onText={setReason} />
    </SubmitForm>
  );
}

interface JsonFormProps extends EventFormProps, Pick<SubmitFormProps, 'onCancel'> {
  /** The event types that the current states accept; the form warns about others. Without a list, it never warns. */
  readonly accepted?: readonly string[] | undefined;
  readonly given?: string;
  /** By default, "Send" with the type of the event. */
  readonly submit?: string | undefined;
}

export function JsonForm(props: JsonFormProps) {
  const { accepted, given = '', submit: words, isBusy, onSend, onCancel } = props;
  const [text, setText] = useState(given);

  const event = eventIn(text);
  const isInvalid = typeof event === 'string';
  const named = isInvalid ? 'Send' : `Send ${excerpt(event.type, 60)}`;
  const isIgnored = !isInvalid && accepted !== undefined && !acceptsEvent(accepted, event.type);

  return (
    <SubmitForm
      label="Event as JSON"
      class="json-form"
      isBusy={isBusy}
      submit={words ?? named}
      missing={isInvalid ? event : ''}
      warning={isIgnored ? `No current state accepts ${excerpt(event.type, 60)}; it will be ignored.` : ''}
      onSubmit={async () => {
        if (await onSend(event)) setText(given);
      }}
      onCancel={onCancel}
    >
      <TextField
        label="Event as JSON"
        rows={Math.min(16, Math.max(3, given.split('\n').length))}
        placeholder={'{ "type": "…" }'}
        value={text}
        onText={setText}
      />
    </SubmitForm>
  );
}

function eventIn(text: string): { readonly type: string } | string {
  let event: { readonly type?: unknown } | null;
  try {
    event = JSON.parse(text);
  } catch (error) {
    return `Not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const type = event?.type;
  return typeof type === 'string' && type !== ''
    ? { ...event, type }
    : 'An event is a JSON object with a string "type" that is not empty.';
}

export function Problem({ id, text }: { readonly id?: string; readonly text: string }) {
  return text === '' ? null : (
    <p class="wrong verbatim" role="alert" id={id}>
      {revealHidden(text)}
    </p>
  );
}
