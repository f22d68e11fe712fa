import { useEffect, useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import type { WhatIfChanges } from '../../../src/chain/journal/decided-run.ts';
import { runStart } from '../../fold/entry-index.ts';
import { capitalize, PHASE_NAMES } from '../../fold/format.ts';
import type { AttemptSpan } from '../../fold/spans.ts';
import { promptSeq } from '../../fold/step.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { Field, SubmitForm, TextField, valueIn } from '../head/event-forms.tsx';
import { useRunAction } from '../head/run-action.tsx';

/** Whether a new run can be made from this one: it is recorded, and not written at the moment. */
export const canFork = ({ connection, continues }: Inspector, { run }: PanelView): boolean =>
  connection.value === 'open' && continues.value && run.kind === 'run' && !run.live && run.status !== 'running';

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
  /** The entry from which the new run may differ. */
  readonly seq: number;
  readonly given?: WhatIfChanges;
  /** The call of the step. */
  readonly call?: AttemptSpan | undefined;
}

/** Starts a new run that is the same up to a step and continues with changes. */
export function ForkForm({ inspector, view, seq, given = {}, call }: ForkFormProps) {
  const { isBusy, act, messages } = useRunAction(inspector, view.run);
  const [typed, type] = useState<Typed>(() =>
    Object.fromEntries(Object.entries(given).map(([path, value]) => [path, String(value)])),
  );
  const [phase, choosePhase] = useState('');
  const [turns, edit] = useState<readonly ChatTurn[] | null>(null);
  const model = modelOf(inspector, view);
  const [otherModel, chooseModel] = useState('');
  // The current values of a long run are known only after a replay.
  useEffect(() => inspector.requestStates(view.run.runId), []);
  const { states } = view.fold;
  const { limits = {}, thresholds = {} } = ((states.after(seq) ?? states.at(seq)) as RecordedState | null) ?? {};
  const values = Object.entries(typed).filter(([, text]) => text.trim() !== '');
  const set = {
    ...Object.fromEntries(values.map(([path, text]) => [path, valueIn(text)])),
    ...(phase !== '' && { phase }),
  };
  const other = otherModel.trim();
  const promptAt = call === undefined ? null : promptSeq(view.log, view.fold, { span: call });
  const prompt = promptAt === null ? null : (turns ?? view.fold.prompts.at(promptAt)?.turns ?? null);
  const isChanged = Object.keys(set).length > 0 || turns !== null || other !== '';
  // Without a change, the call is made again.
  const sent = isChanged ? turns : prompt;
  return (
    <SubmitForm
      label="Fork"
      class="sunken step-form stack"
      isBusy={isBusy}
      submit={
        isBusy ? 'Starting the fork…' : isChanged || prompt === null ? 'Start the fork' : `Retry call ${call?.number}`
      }
      missing={isChanged || prompt !== null ? '' : 'Change at least one value.'}
      onSubmit={() =>
        void act({
          type: 'fork',
          at: sent === null || promptAt === null ? seq : promptAt,
          set,
          ...(sent !== null && { turns: sent }),
          ...(other !== '' && { model: other }),
        })
      }
    >
      <p class="muted verbatim">
        The new run is the same up to here. Identical calls to the same model reuse their recorded results; others go to{' '}
        {other === '' ? model.words : `${excerpt(other, 60)}, which may cost money`}.
      </p>
      <Field label="Continue with">
        <select onChange={({ currentTarget }) => choosePhase(currentTarget.value)}>
          <option value="">the recorded next step</option>
          {PHASE_NAMES.map((name) => (
            <option key={name} value={name}>
              {capitalize(name)}
            </option>
          ))}
        </select>
      </Field>
      <details class="adjust" open={Object.keys(given).length > 0}>
        <summary>All values that can be changed</summary>
        <ValueFields groups={{ limits, thresholds, reply: nextReply(view, seq) }} typed={typed} onType={type} />
      </details>
      {model.canChange && (
        <TextField
          label="Model"
          placeholder={`now ${excerpt(model.name ?? '', 60)}`}
          value={otherModel}
          onText={chooseModel}
        />
      )}
      {prompt !== null && (
        <details>
          <summary>Prompt of this call</summary>
          {prompt.map((turn, index) => (
            <TextField
              // biome-ignore lint/suspicious/noArrayIndexKey: the turns keep their order
              key={index}
              label={turn.role}
              rows={8}
              value={turn.content}
              onText={(content) => edit(prompt.with(index, { ...turn, content }))}
            />
          ))}
        </details>
      )}
      {messages}
    </SubmitForm>
  );
}

/** What was typed, by `group.name`. */
type Typed = Readonly<Record<string, string>>;

interface ValueFieldsProps {
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

function nextReply({ log, fold, count }: PanelView, at: number): object {
  for (const seq of fold.entries.of('activity-event')) {
    if (seq < at || seq >= count) continue;
    const entry = log.entry(seq);
    if (entry.type === 'activity-event' && entry.event.type === 'reply.ended') return Object(entry.event.reply.value);
  }
  return {};
}
