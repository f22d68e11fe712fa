import { useId, useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import type { WhatIfChanges } from '../../../src/chain/journal/decided-run.ts';
import { runStart } from '../../fold/answer.ts';
import { PHASE_NAMES } from '../../fold/format.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { Field } from '../head/event-forms.tsx';
import { useRunAction } from '../head/run-action.tsx';

/** Whether a new run can be made from this one: it is recorded, and not written at the moment. */
export const canFork = ({ connection, continues }: Inspector, { run }: PanelView): boolean =>
  connection.value === 'open' && continues.value && run.kind === 'run' && !run.live && run.status !== 'running';

/** Why runs cannot be continued here. */
export const READ_ONLY = 'This inspector cannot continue or fork runs. Start it with postchain inspect.';

interface FormProps {
  readonly inspector: Inspector;
  readonly view: PanelView;
  /** The entry from which the new run may differ. */
  readonly seq: number;
  readonly onClose: () => void;
}

interface Change {
  readonly path: string;
  readonly value: string;
}

const NO_CHANGE: Change = { path: '', value: '' };

/** The model that continues a run here, and whether it may cost money. */
function modelWords({ model }: Inspector, { log }: PanelView): string {
  const flags = Object(runStart(log)?.product.host?.['flags']) as {
    readonly model?: unknown;
    readonly fallbackModel?: unknown;
  };
  const { model: recorded, fallbackModel } = flags;
  const name = model.value !== undefined && typeof recorded === 'string' ? recorded : model.value;
  return name === 'offline' && fallbackModel === undefined
    ? 'the extractive model (no LLM), which costs nothing'
    : `${name === undefined ? 'the model of this inspector' : excerpt(name, 60)}, which may cost money`;
}

/** Starts a new run that is the same up to a step and continues with changes. */
export function ForkForm({ inspector, view, seq, set, onClose }: FormProps & { readonly set?: WhatIfChanges }) {
  const { isBusy, act, messages } = useRunAction(inspector, view.run);
  const id = useId();
  const given = Object.entries(set ?? {}).map(([path, value]): Change => ({ path, value: String(value) }));
  const [changes, setChanges] = useState<readonly Change[]>(given.length > 0 ? given : [NO_CHANGE]);
  const known = knownValues(view, seq);
  const complete = changes.filter(({ path, value }) => path.trim() !== '' && value.trim() !== '');
  const isHalf = changes.some(({ path, value }) => (path.trim() === '') !== (value.trim() === ''));
  const change = (index: number, part: Partial<Change>): void =>
    setChanges((before) => before.map((one, place) => (place === index ? { ...one, ...part } : one)));

  function submit(submitted: Event): void {
    submitted.preventDefault();
    const set = Object.fromEntries(complete.map(({ path, value }) => [path.trim(), valueIn(value)]));
    void act({ type: 'fork', at: seq, set });
  }

  return (
    <form class="step-form stack" aria-label="Fork" onSubmit={submit} onKeyDown={closesOnEscape(onClose)}>
      <p class="muted">
        Starts a new run that is the same up to {set === undefined ? 'the selected step' : 'the decision that differs'}{' '}
        and continues with your changes. Identical calls to the same model reuse their recorded results.
      </p>
      <p class="verbatim">Other calls go to {modelWords(inspector, view)}.</p>
      <datalist id={id}>
        {Object.keys(known).map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {changes.map(({ path, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a change has no other identity
        <div class="fork-change" key={index}>
          <label>
            <span class="visually-hidden">Change {index + 1}</span>
            <input
              list={id}
              placeholder="what to change"
              value={path}
              onInput={({ currentTarget }) => change(index, { path: currentTarget.value })}
            />
          </label>
          <label>
            <span class="visually-hidden">Value {index + 1}</span>
            <input
              placeholder={known[path] === undefined ? 'new value' : `new value, now ${jsonExcerpt(known[path], 60)}`}
              value={value}
              onInput={({ currentTarget }) => change(index, { value: currentTarget.value })}
            />
          </label>
        </div>
      ))}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy || complete.length === 0 || isHalf}>
          Start the fork
        </button>
        <button type="button" onClick={() => setChanges([...changes, NO_CHANGE])}>
          Add a change
        </button>
      </div>
      {messages}
    </form>
  );
}

/** Edits the prompt of a model call, and asks the model again in a new run. */
export function PromptForm({ inspector, view, seq, onClose }: FormProps) {
  const { isBusy, act, messages } = useRunAction(inspector, view.run);
  const [turns, setTurns] = useState<readonly ChatTurn[]>(view.fold.prompts.at(seq)?.turns ?? []);
  return (
    <form
      class="step-form stack"
      aria-label="Prompt"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        void act({ type: 'fork', at: seq, set: {}, turns });
      }}
      onKeyDown={closesOnEscape(onClose)}
    >
      <p class="verbatim">
        Starts a new run that is the same up to this call, and sends your text to {modelWords(inspector, view)}.
      </p>
      {turns.map((turn, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the turns keep their order
        <Field key={index} label={turn.role}>
          <textarea
            rows={8}
            spellcheck={false}
            value={turn.content}
            onInput={({ currentTarget: { value } }) => setTurns(turns.with(index, { ...turn, content: value }))}
          />
        </Field>
      ))}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          Start the fork
        </button>
      </div>
      {messages}
    </form>
  );
}

const closesOnEscape =
  (close: () => void) =>
  (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    close();
  };

/** What can be changed at an entry, by path, with its current value: limits, thresholds, the direction, and fields of the next reply. */
function knownValues({ log, fold, count }: PanelView, at: number): Readonly<Record<string, unknown>> {
  const state = fold.states.at(at) as RecordedState | null;
  const known: Record<string, unknown> = { phase: PHASE_NAMES.join(', ') };
  const groups = { limits: state?.limits, thresholds: state?.thresholds, reply: nextReply() };
  for (const [group, values] of Object.entries(groups))
    for (const [name, value] of Object.entries(values ?? {})) known[`${group}.${name}`] = value;
  return known;

  function nextReply(): object | undefined {
    for (const seq of fold.entries.of('activity-event')) {
      if (seq < at || seq >= count) continue;
      const entry = log.entry(seq);
      if (entry.type === 'activity-event' && entry.event.type === 'reply.ended') return Object(entry.event.reply.value);
    }
    return undefined;
  }
}

/** JSON or, failing that, text. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
