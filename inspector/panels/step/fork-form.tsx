import { useEffect, useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import type { WhatIfChanges } from '../../../src/chain/journal/decided-run.ts';
import { runStart } from '../../fold/answer.ts';
import { capitalize, formatNumber, PHASE_NAMES } from '../../fold/format.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import { settableNumbers } from '../../fold/what-if.ts';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { Field, SubmitForm, TextField, valueIn } from '../head/event-forms.tsx';
import { useRunAction } from '../head/run-action.tsx';
import { NumberSlider } from './number-slider.tsx';

/** Whether a new run can be made from this one: it is recorded, and not written at the moment. */
export const canFork = ({ connection, continues }: Inspector, { run }: PanelView): boolean =>
  connection.value === 'open' && continues.value && run.kind === 'run' && !run.live && run.status !== 'running';

/** Why runs cannot be continued here. */
export const READ_ONLY = 'This inspector cannot continue or fork runs. Start it with postchain inspect.';

/** The model that continues a run here. Only that of a run which `postchain run` started can be replaced. */
function modelOf({ model }: Inspector, { log }: PanelView) {
  const flags = Object(runStart(log)?.product.host?.['flags']) as {
    readonly model?: unknown;
    readonly fallbackModel?: unknown;
  };
  const recorded = model.value !== undefined && typeof flags.model === 'string' ? flags.model : null;
  const name = recorded ?? model.value;
  const words =
    name === 'offline' && flags.fallbackModel === undefined
      ? 'the extractive model (no LLM), which costs nothing'
      : `${name === undefined ? 'the model of this inspector' : excerpt(name, 60)}, which may cost money`;
  return { name, canChange: recorded !== null, words };
}

interface ForkFormProps {
  readonly inspector: Inspector;
  readonly view: PanelView;
  /** The entry from which the new run may differ, and its step in words. */
  readonly seq: number;
  readonly step: string;
  /** The numbers to start with. */
  readonly given?: WhatIfChanges;
  /** The entry of the prompt that the step sent; null if it sent none. */
  readonly promptAt?: number | null;
}

/** Starts a new run that is the same up to a step and continues with changes. */
export function ForkForm({ inspector, view, seq, step, given = {}, promptAt = null }: ForkFormProps) {
  const { isBusy, act, messages } = useRunAction(inspector, view.run);
  const [set, change] = useState<Values>(given);
  const [typed, type] = useState<Typed>({});
  const [turns, edit] = useState<readonly ChatTurn[] | null>(null);
  const model = modelOf(inspector, view);
  const [otherModel, chooseModel] = useState('');
  // The current values of a long run are known only after a replay.
  useEffect(() => inspector.requestStates(view.run.runId), []);
  const values = Object.entries(typed).filter(([, text]) => text.trim() !== '');
  const all = { ...set, ...Object.fromEntries(values.map(([path, text]) => [path, valueIn(text)])) };
  const other = otherModel.trim();
  const isChanged = Object.keys(all).length > 0 || turns !== null || other !== '';
  return (
    <SubmitForm
      label="Fork"
      class="sunken step-form stack"
      isBusy={isBusy}
      submit={isBusy ? 'Starting the fork…' : 'Start the fork'}
      missing={isChanged ? '' : 'Change at least one value.'}
      onSubmit={() =>
        void act({
          type: 'fork',
          at: turns === null || promptAt === null ? seq : promptAt,
          set: all,
          ...(turns !== null && { turns }),
          ...(other !== '' && { model: other }),
        })
      }
    >
      <h3 class="verbatim">
        Fork at {step} (entry {formatNumber(seq)})
      </h3>
      <p class="muted verbatim">
        The new run is the same up to here. Identical calls to the same model reuse their recorded results; others go to{' '}
        {other === '' ? model.words : `${excerpt(other, 60)}, which may cost money`}.
      </p>
      <Settings view={view} seq={seq} set={set} onChange={change} typed={typed} onType={type} />
      {model.canChange && (
        <TextField
          label="Model"
          placeholder={`now ${excerpt(model.name ?? '', 60)}`}
          value={otherModel}
          onText={chooseModel}
        />
      )}
      {promptAt !== null && <Prompt turns={turns ?? view.fold.prompts.at(promptAt)?.turns ?? []} onEdit={edit} />}
      {messages}
    </SubmitForm>
  );
}

type Values = Readonly<Record<string, unknown>>;

interface SettingsProps {
  readonly view: PanelView;
  readonly seq: number;
  /** The changes so far, by path, and what was typed for the values that have no slider. */
  readonly set: Values;
  readonly onChange: (set: Values) => void;
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

/** The numbers that decisions compare, the next phase, and on request all other values that a fork can change. */
function Settings({ view, seq, set, onChange, typed, onType }: SettingsProps) {
  const { states } = view.fold;
  const state = (states.after(seq) ?? states.at(seq)) as RecordedState | null;
  const numbers = state === null ? [] : settableNumbers(state);
  const put = (path: string, value: unknown): void => {
    const { [path]: _, ...others } = set;
    onChange(value === undefined ? others : { ...others, [path]: value });
  };
  return (
    <>
      {numbers.map((number) => {
        const { path, recorded } = number;
        const value = set[path];
        return (
          <NumberSlider
            key={path}
            number={number}
            value={typeof value === 'number' ? value : recorded}
            onChange={(value) => put(path, value === recorded ? undefined : value)}
          />
        );
      })}
      <Field label="Continue with">
        <select onChange={({ currentTarget: { value } }) => put('phase', value || undefined)}>
          <option value="">the recorded next step</option>
          {PHASE_NAMES.map((phase) => (
            <option key={phase} value={phase}>
              {capitalize(phase)}
            </option>
          ))}
        </select>
      </Field>
      <details class="adjust">
        <summary>All values that can be changed</summary>
        <ValueFields
          groups={{ limits: state?.limits ?? {}, thresholds: state?.thresholds ?? {}, reply: nextReply(view, seq) }}
          typed={typed}
          onType={onType}
        />
      </details>
    </>
  );
}

/** What was typed, by `group.name`. */
type Typed = Readonly<Record<string, string>>;

interface ValueFieldsProps {
  /** The current values, by group and name. */
  readonly groups: Readonly<Record<string, object>>;
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

/** A field for each value; the current one is its placeholder. */
const ValueFields = ({ groups, typed, onType }: ValueFieldsProps) => (
  <>
    {Object.entries(groups).map(([group, values]) => (
      <fieldset key={group}>
        <legend>{group}</legend>
        <div class="grid">
          {Object.entries(values).map(([name, current]) => (
            <TextField
              key={name}
              label={excerpt(name, 60)}
              isNumber={typeof current === 'number'}
              placeholder={`now ${jsonExcerpt(current, 40)}`}
              value={typed[`${group}.${name}`] ?? ''}
              onText={(text) => onType({ ...typed, [`${group}.${name}`]: text })}
            />
          ))}
        </div>
      </fieldset>
    ))}
  </>
);

interface PromptProps {
  readonly turns: readonly ChatTurn[];
  readonly onEdit: (turns: readonly ChatTurn[]) => void;
}

/** The prompt of a model call, to edit. */
const Prompt = ({ turns, onEdit }: PromptProps) => (
  <details>
    <summary>Prompt of this call</summary>
    {turns.map((turn, index) => (
      <TextField
        // biome-ignore lint/suspicious/noArrayIndexKey: the turns keep their order
        key={index}
        label={turn.role}
        rows={8}
        value={turn.content}
        onText={(content) => onEdit(turns.with(index, { ...turn, content }))}
      />
    ))}
  </details>
);

/** The fields of the next reply after an entry. */
function nextReply({ log, fold, count }: PanelView, at: number): object {
  for (const seq of fold.entries.of('activity-event')) {
    if (seq < at || seq >= count) continue;
    const entry = log.entry(seq);
    if (entry.type === 'activity-event' && entry.event.type === 'reply.ended') return Object(entry.event.reply.value);
  }
  return {};
}
