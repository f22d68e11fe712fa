import { useEffect, useState } from 'preact/hooks';
import type { InspectedRun, RepairAction, RepairResult, RunAction } from '../../../src/inspection/wire.ts';
import { chartIndexOf } from '../../fold/chart-index.ts';
import { pluralize } from '../../fold/format.ts';
import { namesText } from '../../fold/run-list.ts';
import { isOver } from '../../fold/step-title.ts';
import { failedPart, rootCauseOf } from '../../fold/system-trace.ts';
import { continuesIn } from '../../fold/system-waits.ts';
import { excerpt } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { isPhone } from '../../ui-state/media.ts';
import type { PanelProps } from '../panel.tsx';
import type { ListDialogProps } from '../runs/delete-dialog.tsx';
import { Dialog } from './dialog.tsx';
import { Field, SubmitForm, TextField } from './event-forms.tsx';

const hasFailed = ({ status }: InspectedRun): boolean => status === 'degraded';

/** The words of each action, and the actors that it is for. */
const ACTIONS = {
  retry: ['Retry', 'retried', 'what failed runs again', hasFailed],
  skip: ['Skip', 'skipped', 'a call counts as finished, an action as executed, an event as never sent', hasFailed],
  release: ['Release', 'released', 'workers continue quarantined actors again', (run) => run.quarantined !== undefined],
  stop: ['Stop', 'stopped', 'the actors end now; this cannot be undone', (run) => !isOver(run)],
} as const satisfies Record<RepairAction, readonly [string, string, string, (run: InspectedRun) => boolean]>;

/** The actions that are for one of these actors. */
export const repairsOf = (runs: readonly InspectedRun[]): readonly RepairAction[] =>
  (Object.keys(ACTIONS) as RepairAction[]).filter((action) =>
    runs.some((run) => run.machine !== undefined && ACTIONS[action][3](run)),
  );

/** What a skipped part of a step counts as. */
const SKIPPED = { call: 'finished', action: 'executed', event: 'never sent' } as const;

/** What an action would do to actors, from a dry run; null until that is known, and if `output` is. `repair` does it. */
function useRepair(inspector: Inspector, runs: readonly InspectedRun[], action: RepairAction, output: object | null) {
  const [results, setResults] = useState<readonly RepairResult[] | null>(null);
  const runIds = runs.map(({ runId }) => runId);
  async function request(dryRun: boolean): Promise<readonly RepairResult[]> {
    const { result, problem } = await inspector.request({ type: 'repair', runIds, action, dryRun, ...output });
    const all = result ?? runIds.map((id) => ({ id, problem }));
    return all.map((one) => ({ ...one, problem: one.problem?.replace(`actor ${one.id}: `, '') ?? null }));
  }
  useEffect(() => {
    let isCurrent = true;
    setResults(null);
    if (output !== null) void request(true).then((found) => isCurrent && setResults(found));
    return () => {
      isCurrent = false;
    };
  }, [JSON.stringify([runIds, action, output])]);
  const repair = (): ReturnType<typeof request> => {
    setResults(null);
    return request(false);
  };
  return { results, repair };
}

type RepairButtonsProps = PanelProps & {
  readonly blocked: string | null;
  readonly act: (action: RunAction, done?: string) => Promise<boolean>;
};

/** Retries or skips what failed in an actor, or releases it. What is not possible is disabled, with the reason. */
export function RepairButtons({ inspector, view, blocked, act }: RepairButtonsProps) {
  const { run, fold } = view;
  const [root] = fold.actors;
  const [isOpen, setOpen] = useState(false);
  const output = run.status === 'degraded' && blocked === null ? {} : null;
  const [retry] = useRepair(inspector, [run], 'retry', output).results ?? [];
  const [skip] = useRepair(inspector, [run], 'skip', output).results ?? [];
  if (run.quarantined !== undefined)
    return (
      <button type="button" disabled={blocked !== null} onClick={() => void act({ type: 'release' }, 'Released.')}>
        Release
      </button>
    );
  if (run.status !== 'degraded') return null;
  const from = root?.end == null ? 0 : fold.entries.stepOf(root.end.seq).from;
  const part = root?.end == null ? null : failedPart(view, from);
  const name = excerpt(part?.text ?? '', 60);
  const chart = chartIndexOf(view.charts).chart(run.machine ?? '');
  const next =
    chart === undefined || part === null
      ? null
      : continuesIn(fold, chart, from - 1, part.kind === 'call' ? part.text : null);
  const isCured = root === undefined || rootCauseOf(view, root) === undefined;
  return (
    <>
      <button
        type="button"
        class={isCured ? 'primary' : ''}
        disabled={retry?.problem !== null}
        onClick={() => void act({ type: 'retry' })}
      >
        Retry {name}
      </button>
      <button
        type="button"
        disabled={skip?.problem !== null}
        aria-haspopup="dialog"
        aria-label={`Skip ${name}…`}
        onClick={() => setOpen(true)}
      >
        Skip{!isPhone.value && ` ${name}`}…
      </button>
      {[retry, skip].map(
        (one, at) =>
          one?.problem && (
            <p class="reason muted verbatim">
              Cannot be {at === 0 ? 'retried' : 'skipped'}: {excerpt(one.problem, 400)}
            </p>
          ),
      )}
      {isOpen && part !== null && (
        <RepairDialog inspector={inspector} runs={[run]} skipped={{ ...part, next }} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function outputIn(text: string): object | null {
  try {
    return text.trim() === '' ? {} : { output: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

const acceptedText = (events: readonly string[]): string =>
  events.length === 0 ? 'It accepts no events there' : `It accepts ${excerpt(namesText(events), 200)} there`;

interface RepairDialogProps extends ListDialogProps {
  /** What failed in a single actor: only that is offered, to be skipped. */
  readonly skipped?: {
    readonly kind: keyof typeof SKIPPED;
    readonly text: string;
    readonly next: ReturnType<typeof continuesIn>;
  };
}

/** Repairs actors. Shows what would happen to each, and then what has happened. */
export function RepairDialog({ inspector, runs, skipped, onClose }: RepairDialogProps) {
  const actions = repairsOf(runs);
  const only = runs.length === 1 ? runs[0] : undefined;
  const [action, choose] = useState<RepairAction>(skipped ? 'skip' : (actions[0] ?? 'stop'));
  const [text, setText] = useState('');
  const [done, setDone] = useState<readonly RepairResult[] | null>(null);
  const [label, word, about] = ACTIONS[action];
  const output = action === 'skip' ? outputIn(text) : {};
  const { results, repair } = useRepair(inspector, runs, action, output);
  const shown = done ?? results ?? [];
  const possible = pluralize(shown.filter(({ problem }) => problem === null).length, 'actor');
  const next = action === 'stop' || runs.length === 1 ? '' : ' A worker continues them, or you do on their pages.';
  const summary = done === null ? '' : `${possible} ${word}.${next}`;
  const none = possible === '0 actors' ? 'None of them: choose another action or other actors.' : '';
  const missing = output === null ? 'Result: enter JSON.' : results === null && done === null ? 'Checking…' : none;
  async function submit(): Promise<void> {
    const all = await repair();
    if (skipped !== undefined && all.every(({ problem }) => problem === null)) onClose('');
    else setDone(all);
  }
  return (
    <Dialog
      title={
        skipped
          ? `Skip ${skipped.text}`
          : `Repair ${only === undefined ? pluralize(runs.length, 'actor') : excerpt(only.title, 60)}`
      }
      class="repair"
      onClose={() => onClose(summary)}
    >
      <SubmitForm
        label="Repair"
        isBusy={false}
        missing={summary || missing}
        submit={skipped ? label : `${label} ${possible}`}
        onSubmit={() => void submit()}
      >
        {skipped ? (
          <p>
            The {skipped.kind} counts as {SKIPPED[skipped.kind]}, and the actor continues
            {skipped.next !== null &&
              ` in ${excerpt(namesText(skipped.next.states), 120)}. ${acceptedText(skipped.next.events)}`}
            .
          </p>
        ) : (
          <Field label="Action" hint={about}>
            <select
              value={action}
              onChange={({ currentTarget }) => {
                choose(currentTarget.value as RepairAction);
                setDone(null);
              }}
            >
              {actions.map((name) => (
                <option key={name} value={name}>
                  {ACTIONS[name][0]}
                </option>
              ))}
            </select>
          </Field>
        )}
        {action === 'skip' && (skipped?.kind ?? 'call') === 'call' && (
          <TextField label="Result of a call" hint="as JSON, optional" rows={2} value={text} onText={setText} />
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <ul tabIndex={0} aria-label={done === null ? 'What would happen' : 'What happened'}>
          {shown
            .filter(({ problem }) => skipped === undefined || problem !== null)
            .map(({ id, problem }) => (
              <li key={id} class={`verbatim ${problem === null ? '' : 'muted'}`}>
                <b>{excerpt(id, 80)}</b>: {excerpt(problem ?? `${done === null ? 'would be ' : ''}${word}`, 400)}
              </li>
            ))}
        </ul>
      </SubmitForm>
    </Dialog>
  );
}
