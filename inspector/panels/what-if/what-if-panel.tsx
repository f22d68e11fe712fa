import './what-if.css';
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { RunWhatIf, WhatIfAnswer } from '../../../src/inspection/wire.ts';
import {
  formatCost,
  formatDecimal,
  formatDuration,
  formatNumber,
  formatScore,
  humanize,
  pluralize,
} from '../../fold/format.ts';
import { revealHidden } from '../../fold/text.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { useRunAction } from '../act/recorded-run.tsx';
import { EntryLink } from '../entry-link.tsx';
import type { PanelProps } from '../panel.tsx';

/** A number that decisions read. `holds`: when a compared value has the effect that `meaning` describes. */
type DecidingNumber = readonly [
  path: string,
  title: string,
  meaning: string,
  holds: 'above' | 'below' | 'reached',
  min: number,
  max: number,
];

const NUMBERS: readonly DecidingNumber[] = [
  ['thresholds.confidence', 'Confidence above', 'Above it, the answer is confident enough.', 'above', 0, 1],
  ['thresholds.change', 'Change below', 'Below it, the answer counts as unchanged.', 'below', 0, 1],
  ['limits.maxCycles', 'Maximum cycles', 'The run ends after this many cycles.', 'reached', 1, 20],
  ['thresholds.sufficiency', 'Sufficiency at least', 'Below it, the next cycle searches for more.', 'below', 0, 1],
  ['thresholds.grounding', 'Grounding at least', 'Below it, the confidence of the answer is capped.', 'below', 0, 1],
  ['thresholds.ungroundedConfidence', 'Cap if unsupported', 'The maximum confidence in that case.', 'above', 0, 1],
  ['thresholds.loopRepeats', 'Similar cycles', 'The run ends after this many similar cycles.', 'reached', 2, 10],
];

/** What a decision compared with each number, by path. */
const comparedBy = ({ assessment, recursion }: RecordedState): Readonly<Record<string, number | null | undefined>> => ({
  'thresholds.confidence': assessment?.confidence,
  'thresholds.change': assessment?.change,
  'limits.maxCycles': recursion.completedCycles,
  'thresholds.sufficiency': assessment?.informationSufficiency,
  'thresholds.grounding': assessment?.evidence.grounding,
  'thresholds.ungroundedConfidence': assessment?.evidence.modelConfidence,
  'thresholds.loopRepeats': assessment && assessment.repeats + 1,
});

const isPast = (value: number, holds: DecidingNumber[3], limit: number): boolean =>
  holds === 'above' ? value > limit : holds === 'below' ? value < limit : value >= limit;

type Changes = Readonly<Record<string, number>>;

export function WhatIfPanel({ inspector, view }: PanelProps) {
  const [set, change] = useState<Changes>({});
  const { runId } = view.run;
  const answer = useAnswer(inspector.whatIf, runId, set);
  const recorded = recordedNumbers(view);
  const decided = useDecisionStates(view);
  const isChanged = Object.keys(set).length > 0;
  if (view.count === 0) return <p class="muted">Nothing is recorded.</p>;
  return (
    <div class="what-if">
      <section class="card" aria-label="This run" aria-live="polite">
        <div class="row">
          <h3>This run</h3>
          <button type="button" disabled={!isChanged} onClick={() => change({})}>
            Reset to recorded numbers
          </button>
        </div>
        {isChanged ? (
          <RunAnswer inspector={inspector} view={view} answer={answer} set={set} />
        ) : (
          <p class="muted">
            Move a slider to see where the run would have ended. The answer comes from the recording, without a model
            call.
          </p>
        )}
      </section>
      {isChanged && (
        <AllRuns key={JSON.stringify(set)} ask={() => inspector.whatIf(null, set)} open={inspector.selectRun} />
      )}
      {NUMBERS.map(([path, title, meaning, holds, min, most]) => {
        const was = recorded[path] ?? min;
        const value = set[path] ?? was;
        const values = decided.flatMap((state) => comparedBy(state)[path] ?? []);
        const max = Math.max(most, was, ...values);
        return (
          <label key={path} class="what-if-number" title={meaning}>
            <span>{title}</span>
            <span class="what-if-scale">
              <input
                type="range"
                min={min}
                max={max}
                step={most === 1 ? 0.01 : 1}
                value={value}
                aria-description={meaning}
                onInput={({ currentTarget }) => change(withNumber(set, path, Number(currentTarget.value), was))}
              />
              {values.map((one, cycle) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the cycles keep their order
                <i key={cycle} style={{ '--at': Math.max(0, (one - min) / (max - min)) }} />
              ))}
            </span>
            <output>{formatDecimal(value)}</output>
            <span class="muted was">{value !== was && `recorded ${formatDecimal(was)}`}</span>
            {values.length > 0 && (
              <span class="muted what-if-values">
                {values.length > MAX_VALUES && '… '}
                {values.slice(-MAX_VALUES).map((one, cycle) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the cycles keep their order
                  <Fragment key={cycle}>
                    {cycle > 0 && ' · '}
                    {isPast(one, holds, value) ? <b>{formatScore(one, value)}</b> : formatScore(one, value)}
                  </Fragment>
                ))}
              </span>
            )}
          </label>
        );
      })}
    </div>
  );
}

function withNumber(set: Changes, path: string, value: number, recorded: number): Changes {
  const { [path]: _, ...others } = set;
  return value === recorded ? others : { ...others, [path]: value };
}

const MAX_VALUES = 8;

function useDecisionStates({ fold, count, stateCount }: RunView): readonly RecordedState[] {
  return useMemo(() => {
    // The states arrive after the entries.
    const end = Math.min(count, fold.states.lastSeq(count) + 1);
    const seqs = [...fold.entries.of('decision'), ...fold.entries.of('direction-asked')].filter((seq) => seq < end);
    const states = seqs.sort((one, other) => one - other).map((seq) => fold.states.after(seq) as RecordedState | null);
    return states.filter((state) => state !== null);
  }, [fold, count, stateCount]);
}

function recordedNumbers({ log, fold, count }: RunView): Changes {
  const start = count > 0 ? log.entry(0) : null;
  if (start?.type !== 'run-start') return {};
  const state = fold.states.at(count - 1) as Partial<RecordedState> | null;
  const roots = { limits: state?.limits ?? start.limits, thresholds: state?.thresholds ?? start.thresholds };
  return Object.fromEntries(
    NUMBERS.flatMap(([path]) => {
      const [root, name] = path.split('.') as ['limits' | 'thresholds', string];
      const value = (roots[root] as Readonly<Record<string, unknown>>)[name];
      return typeof value === 'number' ? [[path, value]] : [];
    }),
  );
}

/** Asks about the latest numbers, one question at a time. */
function useAnswer(ask: PanelProps['inspector']['whatIf'], runId: string, set: Changes): WhatIfAnswer | null {
  const [answer, setAnswer] = useState<WhatIfAnswer | null>(null);
  const waiting = useRef(false);
  const latest = useRef({ runId, set });
  latest.current = { runId, set };
  useEffect(() => {
    if (waiting.current || Object.keys(set).length === 0) return;
    waiting.current = true;
    void (async () => {
      for (let asked: typeof latest.current | null = null; asked?.set !== latest.current.set; ) {
        asked = latest.current;
        setAnswer(await ask(asked.runId, asked.set));
      }
      waiting.current = false;
    })();
  }, [ask, runId, set]);
  return answer;
}

interface RunAnswerProps extends PanelProps {
  readonly answer: WhatIfAnswer | null;
  readonly set: Changes;
}

function RunAnswer({ inspector, view: { run }, answer, set }: RunAnswerProps) {
  const { isBusy, act, messages } = useRunAction(inspector, run);
  if (answer === null) return <p class="muted">Working…</p>;
  const [result] = answer.results;
  if (result === undefined)
    return <p class="problem">{revealHidden(answer.problem ?? 'The run cannot be replayed.')}</p>;
  const { recorded, now, outcome } = result;
  return (
    <>
      <p>
        {sentenceOf(result)} {outcome !== 'same' && <EntryLink seq={now.seq} moveTo={inspector.moveTo} />}
      </p>
      {outcome !== 'same' && !run.live && (
        <button
          type="button"
          class="primary"
          disabled={isBusy}
          title="Starts a new run that repeats this one up to there. Other calls than the recorded ones call the model."
          onClick={() => void act({ type: 'fork', at: now.seq, set })}
        >
          Fork from entry {formatNumber(now.seq)} with these numbers
        </button>
      )}
      {messages}
      <p class="muted">
        Recorded: {humanize(recorded.rule ?? 'not ended')} in cycle {recorded.cycle},{' '}
        {pluralize(recorded.use.modelCalls, 'call')}.
      </p>
    </>
  );
}

function sentenceOf({ recorded, now, outcome, currency }: RunWhatIf): string {
  if (outcome === 'same')
    return now.rule === recorded.rule
      ? 'The run would end as it did.'
      : `The run would end in the same cycle, by another rule: ${humanize(now.rule ?? '')}.`;
  if (outcome === 'earlier')
    return `The run would end in cycle ${now.cycle} (${humanize(now.rule ?? '')}) and save ${savedText(recorded.use, now.use, currency)}.`;
  const next = now.nextPhase === null ? 'ask for a direction' : `continue with ${now.nextPhase}`;
  const end = outcome === 'further' ? 'beyond its recorded end' : 'instead of its recorded path';
  return `After cycle ${now.cycle}, the run would ${next}, ${end}. What follows is not recorded: fork the run to see it.`;
}

type Use = RunWhatIf['now']['use'];

function savedText(all: Use, used: Use, currency: string): string {
  const cost =
    all.cost === null || used.cost === null ? '' : `, ${formatCost({ amount: all.cost - used.cost, currency })}`;
  return `${pluralize(all.modelCalls - used.modelCalls, 'model call')}, ${pluralize(all.tokens - used.tokens, 'token')}${cost} and ${formatDuration(all.ms - used.ms)}`;
}

interface AllRunsProps {
  readonly ask: () => Promise<WhatIfAnswer>;
  readonly open: (runId: string) => void;
}

const MAX_SHOWN = 50;

function AllRuns({ ask, open }: AllRunsProps) {
  const [answer, setAnswer] = useState<WhatIfAnswer | 'asking' | null>(null);
  if (answer === null || answer === 'asking')
    return (
      <button
        type="button"
        disabled={answer === 'asking'}
        onClick={async () => {
          setAnswer('asking');
          setAnswer(await ask());
        }}
      >
        {answer === 'asking' ? 'Reading all runs…' : 'Check all runs'}
      </button>
    );
  const { results, leftOut, problem } = answer;
  if (problem !== null) return <p class="problem">{revealHidden(problem)}</p>;
  const differing = results.filter(({ outcome }) => outcome !== 'same');
  const earlier = results.filter(({ outcome }) => outcome === 'earlier');
  const calls = earlier.reduce((sum, { recorded, now }) => sum + recorded.use.modelCalls - now.use.modelCalls, 0);
  return (
    <section class="card" aria-label="All runs">
      <h3>All runs</h3>
      <p>
        Of {pluralize(results.length, 'run')}, {formatNumber(earlier.length)} would end earlier and save{' '}
        {pluralize(calls, 'model call')}; {formatNumber(differing.length - earlier.length)} would continue or take
        another path.
        {leftOut > 0 && ` ${pluralize(leftOut, 'run')} not included: not replayable, or not among the newest 500.`}
      </p>
      <ul class="what-if-runs">
        {differing.slice(0, MAX_SHOWN).map((result) => (
          <li key={result.runId}>
            <button type="button" class="link-button" onClick={() => open(result.runId)}>
              {revealHidden(result.request.slice(0, 80))}
            </button>{' '}
            {sentenceOf(result)}
          </li>
        ))}
      </ul>
      {differing.length > MAX_SHOWN && (
        <p class="muted">{pluralize(differing.length - MAX_SHOWN, 'more run')} not shown.</p>
      )}
    </section>
  );
}
