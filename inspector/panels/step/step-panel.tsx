import './step.css';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { answerUpTo } from '../../fold/entry-index.ts';
import { stepCalls, toolUses } from '../../fold/step.ts';
import { isOver, stepTitle } from '../../fold/step-title.ts';
import { stepName } from '../../fold/system-step.ts';
import { isNarrow } from '../../ui-state/media.ts';
import { ErrorBoundary, type PanelProps } from '../panel.tsx';
import { Section } from '../parts.tsx';
import { useClock } from '../trace/use-clock.ts';
import { Asked } from './asked.tsx';
import { Attached } from './attached.tsx';
import { Context } from './context.tsx';
import { canFork, ForkForm } from './fork-form.tsx';
import { Origins } from './origins.tsx';
import { Raw } from './raw.tsx';
import { Result } from './result.tsx';
import { ActorStep, clockOf } from './system-step.tsx';
import { ToolList } from './tools.tsx';
import { WhatIfNumbers } from './what-if.tsx';
import { Why } from './why.tsx';

export function StepPanel(props: PanelProps) {
  const { inspector, view } = props;
  const { kind, from, actor = '', stateId = actor } = view.selection;
  const panel = useRef<HTMLElement>(null);
  const chosen = inspector.chosen.value;
  const isShown = chosen?.selection === view.selection;
  useLayoutEffect(() => {
    if (isShown && panel.current !== null) bringIntoView(panel.current);
  }, [chosen, isShown]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it
    <section ref={panel} class="panel step-view" id="panel" aria-label="Selected step" tabIndex={0}>
      <ErrorBoundary name="The step" resetKey={`${view.run.runId} ${view.at} ${kind} ${from}`}>
        {view.count === 0 ? (
          <p class="muted">Nothing is recorded yet.</p>
        ) : (
          <Step key={`${kind} ${from} ${stateId}`} {...props} />
        )}
      </ErrorBoundary>
      <Origins {...props} />
    </section>
  );
}

/** A step that was chosen starts at its top. On a narrow page, it is far below what was clicked; arrow keys in the trace stay there. */
function bringIntoView(panel: HTMLElement): void {
  panel.scrollTop = 0;
  if (!isNarrow.value || document.querySelector('.trace-list:focus-visible') !== null) return;
  panel.closest('.step-area')?.scrollIntoView();
  panel.querySelector<HTMLElement>('.step-head h2')?.focus({ preventScroll: true });
}

function Step(props: PanelProps) {
  const { view } = props;
  const { log, fold, selection, at } = view;
  const isSystem = view.run.kind === 'system';
  const isTool = selection.kind === 'capability' || selection.kind === 'retrieval';
  // In a system, only the records of a call are known to belong to this step.
  const isOfCall = !isSystem || selection.kind === 'attempt' || isTool;
  const calls = isOfCall ? stepCalls(fold, selection, at) : null;
  const uses = isOfCall ? toolUses(log, fold, selection, at) : [];
  // The head has the answer: why the run ended is new.
  const isAnswer = selection.kind === 'entry' && answerUpTo(log, fold, Math.min(selection.to, at)) !== null;
  return (
    <>
      <Head {...props} />
      {isAnswer && <Why {...props} />}
      {isOfCall ? <Result {...props} calls={calls} uses={uses} /> : <ActorStep {...props} />}
      {selection.kind === 'decision' && <WhatIfNumbers key={selection.from} {...props} seq={selection.from} />}
      {(isAnswer || calls !== null) && <Attached view={view} />}
      {calls !== null && <Asked key={calls.selected.span.number} view={view} call={calls.selected} />}
      {uses.length > 0 && !isTool && (
        <Section title="Tools used">
          <ToolList view={view} uses={uses} />
        </Section>
      )}
      {!isSystem && <Context view={view} />}
      {isOfCall && !isAnswer && <Why {...props} />}
      <Raw {...props} />
    </>
  );
}

const TONES = { ok: 'completed', warn: 'degraded', bad: 'bad', asks: 'asks', plain: '' } as const;

function Head({ inspector, view }: PanelProps) {
  const [isForking, setForking] = useState(false);
  const sinceMs = useClock(view);
  const { name, facts, status } = stepTitle({ ...view, sinceMs });
  const calls = stepCalls(view.fold, view.selection, view.at);
  const { kind, from, to } = view.selection;
  const answer = answerUpTo(view.log, view.fold, to);
  // Nothing follows the answer that could differ.
  const isForkable = canFork(inspector, view) && !(kind === 'entry' && answer !== null && to >= answer.seq);
  const isRecorded = view.run.kind === 'system' && view.count > 0;
  const shown = isRecorded ? [stepName(view.fold, from), clockOf(view, from), ...facts].filter(Boolean) : facts;
  return (
    <header class="step-head stack">
      <div class="row">
        <h2 class="verbatim" tabIndex={-1}>
          {name}
        </h2>
        {status !== null && <span class={`pill ${TONES[status.tone]}`}>{status.word}</span>}
        {isForkable && (
          <span class="row actions">
            <button type="button" aria-expanded={isForking} onClick={() => setForking(!isForking)}>
              Fork here
            </button>
          </span>
        )}
      </div>
      {isOver(view.run) && (inspector.cursor.value ?? 0) >= view.count && (
        <p class="muted" role="status">
          The link names a place that this run does not have. This is the end of the run.
        </p>
      )}
      {shown.length > 0 && <p class="muted verbatim">{shown.join(' · ')}</p>}
      {isForking && <ForkForm inspector={inspector} view={view} seq={Math.max(1, from)} call={calls?.selected.span} />}
    </header>
  );
}
