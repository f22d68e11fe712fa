import { useEffect, useMemo, useState } from 'preact/hooks';
import { differs, outcomeWith, type PhaseUse, type WhatIf } from '../../../src/chain/journal/decided-run.ts';
import { capitalize, formatCost, formatDuration, formatNumber, formatScore, pluralize } from '../../fold/format.ts';
import { guardTitle } from '../../fold/guard-words.ts';
import { decidedRunOf, numbersAt } from '../../fold/what-if.ts';
import { Field } from '../head/event-forms.tsx';
import type { PanelProps } from '../panel.tsx';
import { canFork, ForkForm } from './fork-form.tsx';

const isUnknown = ({ end, states, stateCount }: PanelProps['view']): boolean =>
  end !== null && stateCount === 0 && states === 'sent';

type Changes = Readonly<Record<string, number>>;

/** The numbers that the decision at an entry compared: where the run would have ended with others. */
export function WhatIfNumbers({ inspector, view, seq }: PanelProps & { readonly seq: number }) {
  const [set, change] = useState<Changes>({});
  const numbers = numbersAt(view, seq);
  if (view.run.live) return null;
  if (view.states !== 'sent') return <Replay inspector={inspector} view={view} />;
  if (numbers.length === 0)
    return isUnknown(view) ? <p class="muted">No what-if: the run cannot be replayed here.</p> : null;
  const isChanged = Object.keys(set).length > 0;
  return (
    <section class="what-if stack" aria-label="What if">
      <header class="row">
        <h2>What if</h2>
      </header>
      {numbers.map(({ path, title, compared, recorded, min, max, step }) => (
        <Field key={path} label={title} hint={`reached ${formatScore(compared)}`}>
          <input
            type="number"
            {...{ min, max, step, value: set[path] ?? recorded }}
            onInput={({ currentTarget: { value, valueAsNumber } }) => {
              if (value === '' || valueAsNumber < min || valueAsNumber > max) return;
              const { [path]: _, ...others } = set;
              change(valueAsNumber === recorded ? others : { ...others, [path]: valueAsNumber });
            }}
          />
        </Field>
      ))}
      {isChanged ? (
        <Outcome inspector={inspector} view={view} set={set} onReset={() => change({})} />
      ) : (
        <p class="muted">Change a number to see where this run would have ended.</p>
      )}
    </section>
  );
}

/** The numbers of a long run are known only after a replay, which takes seconds. */
function Replay({ inspector, view: { run, count } }: PanelProps) {
  useEffect(() => inspector.requestStates(run.runId), []);
  return <p role="status">What if: replaying {formatNumber(count)} entries to compute the numbers…</p>;
}

type OutcomeProps = PanelProps & { readonly set: Changes; readonly onReset: () => void };

function Outcome({ inspector, view, set, onReset }: OutcomeProps) {
  const [isOpen, open] = useState(false);
  const run = useMemo(() => decidedRunOf(view), [view.fold, view.count, view.stateCount]);
  if (run === null) return null;
  const changesOf = (root: 'limits' | 'thresholds') =>
    Object.fromEntries(
      Object.entries(set).flatMap(([path, value]) => (path.startsWith(root) ? [[path.split('.')[1], value]] : [])),
    );
  const outcome = outcomeWith(run, { limits: changesOf('limits'), thresholds: changesOf('thresholds') });
  const isForkable = differs(outcome) && canFork(inspector, view);
  return (
    <>
      <p role="status">This run {outcomeText(outcome, view.fold.spans.currency ?? '')}</p>
      <div class="row">
        {isForkable && (
          <button type="button" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            Fork with {Object.keys(set).length === 1 ? 'this number' : 'these numbers'}…
          </button>
        )}
        <button type="button" onClick={onReset}>
          Reset
        </button>
      </div>
      {isOpen && isForkable && (
        <ForkForm key={JSON.stringify(set)} inspector={inspector} view={view} seq={outcome.now.seq} given={set} />
      )}
    </>
  );
}

/** What follows `This run`. */
function outcomeText({ recorded, now, outcome }: WhatIf, currency: string): string {
  if (outcome === 'unfinished') return 'has not ended; its decisions so far would have been the same.';
  if (outcome === 'same')
    return now.rule === recorded.rule
      ? `would have ended as it did, for the same reason: ${guardTitle(now.rule ?? '')}.`
      : `would have ended in the same cycle, for another reason: ${guardTitle(now.rule ?? '')}.`;
  if (outcome === 'earlier')
    return `would have ended in cycle ${now.cycle} (${guardTitle(now.rule ?? '')}), which saves ${savedText(recorded.use, now.use, currency)}.`;
  const next = now.nextPhase === null ? 'asked for a direction' : `continued with ${capitalize(now.nextPhase)}`;
  const end = outcome === 'further' ? 'beyond its recorded end' : 'instead of its recorded path';
  return `would have ${next} after cycle ${now.cycle}, ${end}. What follows is not recorded.`;
}

function savedText(all: PhaseUse, used: PhaseUse, currency: string): string {
  const cost =
    all.cost === null || used.cost === null ? '' : `, ${formatCost({ amount: all.cost - used.cost, currency })}`;
  return `${pluralize(all.modelCalls - used.modelCalls, 'call')}, ${pluralize(all.tokens - used.tokens, 'token')}${cost} and ${formatDuration(all.ms - used.ms)}`;
}
