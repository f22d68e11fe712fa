import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { Limits, Thresholds } from '../../../machines/contracts/limits.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { PHASE_NAMES } from '../../fold/format.ts';
import { excerpt, jsonExcerpt, revealHidden } from '../../fold/text.ts';

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
  readonly onSend?: () => void;
  readonly children: ComponentChildren;
}

/** A button that sends an event. The second click of a double click does nothing, even if the first send has finished. */
export function SendButton({ isBusy, submits = false, isPrimary = submits, onSend, children }: SendButtonProps) {
  return (
    <button
      type={submits ? 'submit' : 'button'}
      class={isPrimary ? 'primary' : ''}
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

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  /** The control. */
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

const FINISH = 'finish';

interface DirectFormProps extends EventFormProps {
  readonly proposal: string;
  /** What is preselected: a phase, or "finish". */
  readonly recommended: string;
  /** The question that the direction answers; without one, finishing is not offered. */
  readonly questionId?: string;
}

/** `run.directed` continues with a phase, with an optional instruction; `run.finished` ends the run. */
export function DirectForm({ proposal, recommended, questionId, isBusy, onSend }: DirectFormProps) {
  const [selected, choose] = useState<string | null>(null);
  const [prompt, setPrompt] = useState('');
  const offered = questionId === undefined ? PHASE_NAMES : [...PHASE_NAMES, FINISH];
  const phase = selected ?? offered.find((name) => name === recommended) ?? 'action';

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    const typed = prompt.trim();
    const answer =
      phase === FINISH
        ? { type: 'run.finished' }
        : { type: 'run.directed', phase, ...(typed !== '' && { prompt: typed }) };
    if (await onSend({ ...answer, ...(questionId && { questionId }) })) setPrompt('');
  }

  return (
    <form class="direct" aria-label="Continue with a phase" onSubmit={submit}>
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
      {phase !== FINISH && (
        <Field label="Instruction" hint="optional">
          <textarea rows={1} value={prompt} onInput={({ currentTarget }) => setPrompt(currentTarget.value)} />
        </Field>
      )}
      <SendButton isBusy={isBusy} submits>
        {phase === FINISH ? 'Finish the run' : `Continue with ${phase}`}
      </SendButton>
    </form>
  );
}

/** `run.cancelled`, with an optional reason. */
export function CancelForm({ isBusy, onSend }: EventFormProps) {
  const [reason, setReason] = useState('');

  function submit(submitted: Event): void {
    submitted.preventDefault();
    const typed = reason.trim();
    if (!isBusy) void onSend({ type: 'run.cancelled', ...(typed !== '' && { reason: typed }) });
  }

  return (
    <form class="cancel" aria-label="Cancel" onSubmit={submit}>
      <p>The run ends now, with the best answer that it has so far.</p>
      <Field label="Reason" hint="optional">
        <input
          type="text"
          autocomplete="off"
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </Field>
      <SendButton isBusy={isBusy} submits>
        Cancel the run
      </SendButton>
    </form>
  );
}

interface AdjustFormProps extends EventFormProps {
  readonly limits: Limits;
  readonly thresholds: Thresholds;
}

/** `run.adjusted`: other limits and thresholds. The current numbers are placeholders; only what is typed is sent. */
export function AdjustForm({ limits, thresholds, isBusy, onSend }: AdjustFormProps) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState('');
  const groups = { limits, thresholds };

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    const entries = Object.entries(typed).filter(([, text]) => text.trim() !== '');
    const wrong = entries.find(([, text]) => !Number.isFinite(numberIn(text)));
    if (wrong !== undefined || entries.length === 0) {
      setProblem(
        wrong === undefined
          ? 'Type at least one number.'
          : `"${wrong[0].split('.')[1]}" must be a number; received "${firstChars(wrong[1], 40)}".`,
      );
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    setProblem('');
    const event: Record<string, unknown> = { type: 'run.adjusted' };
    for (const group of Object.keys(groups)) {
      const own = entries.filter(([key]) => key.startsWith(`${group}.`));
      if (own.length > 0)
        event[group] = Object.fromEntries(own.map(([key, text]) => [key.slice(group.length + 1), numberIn(text)]));
    }
    if (await onSend(event)) setTyped({});
  }

  return (
    <form ref={form} class="adjust" aria-label="Adjust limits and thresholds" noValidate onSubmit={submit}>
      <ValueFields
        groups={groups}
        typed={typed}
        onType={(key, value) => setTyped((before) => ({ ...before, [key]: value }))}
        isWrong={(key) => problem !== '' && !Number.isFinite(numberIn(typed[key] ?? '0'))}
        problemId={id}
      />
      <Problem id={id} text={problem} />
      <SendButton isBusy={isBusy} submits>
        Adjust
      </SendButton>
    </form>
  );
}

interface ValueFieldsProps {
  /** The current values, by group and name. */
  readonly groups: Readonly<Record<string, object>>;
  /** What was typed, by `group.name`. */
  readonly typed: Readonly<Record<string, string>>;
  readonly onType: (key: string, value: string) => void;
  readonly isWrong?: (key: string) => boolean;
  readonly problemId?: string;
}

/** A field for each value; the current one is its placeholder. */
export const ValueFields = ({ groups, typed, onType, isWrong = () => false, problemId }: ValueFieldsProps) => (
  <>
    {Object.entries(groups).map(([group, values]) => (
      <fieldset key={group}>
        <legend>{group}</legend>
        <div class="grid">
          {Object.entries(values).map(([name, current]) => {
            const key = `${group}.${name}`;
            return (
              <Field key={key} label={excerpt(name, 60)}>
                <input
                  type="text"
                  autocomplete="off"
                  {...(typeof current === 'number' && { inputMode: 'decimal' })}
                  placeholder={`now ${jsonExcerpt(current, 40)}`}
                  value={typed[key] ?? ''}
                  aria-invalid={isWrong(key)}
                  aria-describedby={isWrong(key) ? problemId : undefined}
                  onInput={({ currentTarget: { value } }) => onType(key, value)}
                />
              </Field>
            );
          })}
        </div>
      </fieldset>
    ))}
  </>
);

/** Accepts digit groups: `1,000,000`. */
const numberIn = (text: string): number => Number(text.trim().replace(/(?<=\d)[_,](?=\d{3}(\D|$))/gu, ''));

interface JsonFormProps extends EventFormProps {
  readonly types?: readonly string[];
  /** The text at first. */
  readonly given?: string;
  readonly submit?: string;
}

/** Any event as JSON, for events that have no form here. */
export function JsonForm({ types = [], given = '', submit: words = 'Send', isBusy, onSend }: JsonFormProps) {
  const id = useId();
  const [text, setText] = useState(given);
  const [problem, setProblem] = useState('');

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    const event = eventIn(text);
    setProblem(typeof event === 'string' ? event : '');
    if (typeof event !== 'string' && (await onSend(event))) setText(given);
  }

  return (
    <form class="json-event" aria-label="Event as JSON" noValidate onSubmit={submit}>
      <Field label="Event as JSON">
        <textarea
          rows={3}
          spellcheck={false}
          placeholder={'{"type": "run.directed", "phase": "action"}'}
          value={text}
          aria-invalid={problem !== ''}
          aria-describedby={problem === '' ? undefined : id}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </Field>
      {types.length > 0 && <p class="muted">Types: {types.join(', ')}</p>}
      <Problem id={id} text={problem} />
      <SendButton isBusy={isBusy} submits>
        {words}
      </SendButton>
    </form>
  );
}

/** The event in a text, or what is wrong with the text. */
function eventIn(text: string): object | string {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch (error) {
    return `Not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const isEvent = typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string';
  return isEvent ? (event as object) : 'An event is a JSON object with a string "type".';
}

export function Problem({ id, text }: { readonly id?: string; readonly text: string }) {
  return text === '' ? null : (
    <p class="wrong verbatim" role="alert" id={id}>
      {revealHidden(text)}
    </p>
  );
}
