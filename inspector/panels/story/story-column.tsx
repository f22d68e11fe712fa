import './story.css';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Usage } from '../../../machines/contracts/usage.ts';
import { formatCost, formatDuration, formatNumber, pluralize } from '../../fold/format.ts';
import { answerSelection, type Selection } from '../../fold/selection.ts';
import { lastStartedBy } from '../../fold/sorted.ts';
import {
  answerUpTo,
  type StoryCycle,
  type StoryDecision,
  type StoryPhase,
  storyOf,
  writingSums,
} from '../../fold/story.ts';
import { excerpt } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import type { RunView } from '../../ui-state/inspector.ts';
import { plainMarkdown } from '../markdown.tsx';
import type { PanelProps } from '../panel.tsx';

/** Up to this many cycles are all open; if there are more, only the selected one is. */
const MAX_OPEN = 6;
const MAX_LISTED = 8;

interface RowProps {
  /** The currency of the costs; null without prices. */
  readonly currency: string | null;
  readonly selected: Selection;
  readonly select: (selection: Selection) => void;
}

export function StoryColumn({ inspector, view }: PanelProps) {
  const { log, fold, count, selection } = view;
  const { currency } = fold.spans;
  const box = useRef<HTMLDivElement>(null);
  const [toggled, toggle] = useState<ReadonlyMap<number, boolean>>(new Map());
  const cycles = storyOf(log, fold, count);
  const current = Math.max(0, cycles.indexOf(lastStartedBy(cycles, selection.to) as StoryCycle));
  const first = Math.max(0, Math.min(current - MAX_LISTED / 2, cycles.length - MAX_LISTED));
  const listed = cycles.slice(first, first + MAX_LISTED);
  const answer = answerUpTo(log, fold, count - 1);
  const select = (chosen: Selection): void => inspector.select(chosen);
  const row: RowProps = { selected: selection, select, currency };
  const goTo = (cycle: StoryCycle | undefined): void => {
    const [phase] = cycle?.phases() ?? [];
    if (phase !== undefined) select(phase.selection);
  };

  // Keeps the selected row in view, also while the run adds rows. A finished run opens at its beginning.
  useLayoutEffect(() => {
    if (inspector.cursor.value !== null || view.run.live)
      box.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' });
  }, [view.at, listed.length]);

  return (
    <div class="story" ref={box}>
      {cycles.length === 0 && (
        <p class="muted">{view.end === null ? 'The first phase has not started yet.' : 'This run has no phases.'}</p>
      )}
      {first > 0 && (
        <button type="button" class="more plain" onClick={() => goTo(cycles[first - 1])}>
          {pluralize(first, 'earlier cycle')}
        </button>
      )}
      {listed.map((cycle) => {
        const isOpen = toggled.get(cycle.cycle) ?? (cycles.length <= MAX_OPEN || cycle === cycles[current]);
        return (
          <Cycle
            key={cycle.from}
            cycle={cycle}
            isOpen={isOpen}
            isOnly={cycles.length === 1}
            onToggle={() => toggle(new Map(toggled).set(cycle.cycle, !isOpen))}
            {...row}
          />
        );
      })}
      {first + listed.length < cycles.length && (
        <button type="button" class="more plain" onClick={() => goTo(cycles[first + listed.length])}>
          {pluralize(cycles.length - first - listed.length, 'later cycle')}
        </button>
      )}
      {answer !== null && <AnswerRow view={view} answer={answer} {...row} />}
    </div>
  );
}

interface CycleProps extends RowProps {
  readonly cycle: StoryCycle;
  readonly isOpen: boolean;
  readonly isOnly: boolean;
  readonly onToggle: () => void;
}

function Cycle({ cycle, isOpen, isOnly, onToggle, ...row }: CycleProps) {
  const { decision } = cycle;
  return (
    <section aria-label={`Cycle ${cycle.cycle}`}>
      {!isOnly && (
        <h2>
          <button type="button" class="plain" aria-expanded={isOpen} onClick={onToggle}>
            <span>
              <Icon name={isOpen ? 'expanded' : 'collapsed'} /> Cycle {cycle.cycle}
            </span>
            <Numbers usage={cycle.usage} ms={cycle.ms} currency={row.currency} isSum />
          </button>
        </h2>
      )}
      {isOpen && (
        <ol>
          {cycle.phases().map((phase) => (
            <PhaseRow key={phase.selection.from} phase={phase} {...row} />
          ))}
        </ol>
      )}
      {decision !== null && <DecisionRow decision={decision} {...row} />}
    </section>
  );
}

const contains = (row: Selection, { from, to }: Selection): boolean => row.from <= from && to <= row.to;

const STATUS_WORDS = { running: 'running', done: '', failed: 'failed', aborted: 'stopped' } as const;

interface NumbersProps extends Pick<RowProps, 'currency'> {
  readonly usage: Usage;
  readonly ms: number;
  readonly calls?: StoryPhase['calls'];
  /** With the currency, which rows leave out. */
  readonly isSum?: boolean;
}

/** Shows time, cost, model calls and tokens, from right to left. Figures that do not fit are left out, tokens first. */
function Numbers({ usage: { inputTokens, outputTokens, cost }, ms, currency, calls = null, isSum }: NumbersProps) {
  const tokens = inputTokens + outputTokens;
  const price = cost === null || currency === null || tokens === 0 ? null : formatCost({ amount: cost, currency });
  return (
    <span class="numbers muted">
      <span>{formatDuration(ms)}</span>
      {price !== null && (
        <span class="cost" title={price}>
          {isSum ? price : price.replace(` ${currency}`, '')}
        </span>
      )}
      {calls !== null && (
        <span>{calls.first === calls.last ? `call ${calls.first}` : `calls ${calls.first}–${calls.last}`}</span>
      )}
      {tokens > 0 && <span>{formatNumber(tokens)} tok</span>}
    </span>
  );
}

function PhaseRow({ phase: row, selected, select, currency }: RowProps & { readonly phase: StoryPhase }) {
  const { phase, status, finding, text, ms, usage, calls, badges } = row;
  const words = STATUS_WORDS[status];
  const result = text === '' ? finding || (status === 'running' ? '' : 'nothing new') : plainMarkdown(text, 160);
  return (
    <li>
      <button
        type="button"
        class={`story-row ${status}`}
        aria-current={selected.kind !== 'decision' && contains(row.selection, selected) ? 'true' : undefined}
        style={{ '--hue': `var(--phase-${phase}, var(--accent))` }}
        title={finding === '' ? undefined : finding}
        onClick={() => select(row.selection)}
      >
        <span class="head">
          <b>{phase}</b>
          {words !== '' && <span class="status">{words}</span>}
          <Numbers usage={usage} ms={ms} calls={calls} currency={currency} />
        </span>
        <span class="result verbatim one-line">{result}</span>
        {badges.length > 0 && (
          <span class="row">
            {badges.map((badge) => (
              <span key={badge.text} class={`badge ${badge.tone}`}>
                {excerpt(badge.text, 40)}
              </span>
            ))}
          </span>
        )}
      </button>
    </li>
  );
}

function DecisionRow({ decision, selected, select }: RowProps & { readonly decision: StoryDecision }) {
  const { selection, reason, nextPhase } = decision;
  return (
    <button
      type="button"
      class="story-row decision"
      aria-current={selected.from === selection.from && selected.kind === 'decision' ? 'true' : undefined}
      style={{ '--hue': 'var(--phase-yield)' }}
      onClick={() => select(selection)}
    >
      <span class="result verbatim">
        <span class="visually-hidden">Decision: </span>
        {excerpt(reason, 200)}
      </span>
      <span class="next">
        <Icon name="arrow-right" /> {nextPhase ?? 'answer'}
      </span>
    </button>
  );
}

interface AnswerRowProps extends RowProps {
  readonly view: RunView;
  readonly answer: NonNullable<ReturnType<typeof answerUpTo>>;
}

function AnswerRow({ view: { fold, count }, answer: { seq, answer }, selected, select, currency }: AnswerRowProps) {
  const { status, answerText } = answer;
  const { ms, ...usage } = writingSums(fold, seq);
  return (
    <button
      type="button"
      class={`story-row ending ${status}`}
      aria-current={selected.to >= seq ? 'true' : undefined}
      style={{ '--hue': status === 'completed' ? 'var(--ok)' : status === 'degraded' ? 'var(--warn)' : 'var(--bad)' }}
      onClick={() => select(answerSelection(fold, count))}
    >
      <span class="head">
        <b>answer</b>
        <span class="status">{status}</span>
        <Numbers usage={usage} ms={ms} currency={currency} />
      </span>
      <span class="result verbatim">{plainMarkdown(answerText, 200)}</span>
    </button>
  );
}
