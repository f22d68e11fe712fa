import './head.css';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { answerUpTo, runStart } from '../../fold/entry-index.ts';
import {
  capitalize,
  formatCost,
  formatDuration,
  formatNumber,
  pluralize,
  startedText,
  tokenTotal,
} from '../../fold/format.ts';
import { ageText, waitWords } from '../../fold/run-list.ts';
import { endingOf, figuresOf, lastPhaseInWords, verdictOf } from '../../fold/summary.ts';
import { excerpt } from '../../fold/text.ts';
import { waitingAt } from '../../fold/user-events.ts';
import { forkChanges } from '../../fold/what-if.ts';
import { isLoading } from '../../ui-state/inspector.ts';
import { isPhone } from '../../ui-state/media.ts';
import { ForkMark } from '../header/run-details.tsx';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { useClock } from '../trace/use-clock.ts';
import { Activity, Answer } from './answer-panel.tsx';
import { RunActions } from './run-actions.tsx';
import { SendingResult } from './sending.tsx';
import { SystemHead } from './system-head.tsx';
import { WaitingBanner } from './waiting-banner.tsx';

export const RunHead = (props: PanelProps) =>
  props.view.run.kind === 'system' ? <SystemHead {...props} /> : <ChainHead {...props} />;

function ChainHead({ inspector, view }: PanelProps) {
  const { run, log, fold, count } = view;
  const answer = answerUpTo(log, fold, count - 1)?.answer ?? null;
  const title = useRef<HTMLHeadingElement>(null);
  // The link that opened the run is gone.
  useEffect(() => {
    if (document.activeElement === document.body) title.current?.focus({ preventScroll: true });
  }, []);
  const heading = (
    <h1 ref={title} class="verbatim" tabIndex={-1}>
      {excerpt(run.title, 300) || 'Untitled'}
    </h1>
  );
  if (isLoading(view))
    return (
      <div class="run-head">
        {heading}
        <p class="verdict" role="status">
          Loading {formatNumber(count)}
          {` of ${formatNumber(run.entries ?? count)} entries`}
        </p>
      </div>
    );
  return (
    <div class="run-head">
      {heading}
      <RunActions inspector={inspector} view={view} />
      <Verdict inspector={inspector} view={view} />
      <Ending view={view} />
      <WaitingBanner inspector={inspector} view={view} />
      {run.live && <SendingResult inspector={inspector} view={view} />}
      <section class="answer" aria-label={answer === null ? 'Activity' : 'Answer'}>
        {answer === null ? <Activity view={view} /> : <Answer inspector={inspector} view={view} answer={answer} />}
        <Figures view={view} />
      </section>
    </div>
  );
}

/** Why the answer is degraded, and which decision ended the run. */
function Ending({ view: { run, log, fold, count } }: Pick<PanelProps, 'view'>) {
  const ending = endingOf(log, fold, count);
  const chars = isPhone.value ? 140 : 400;
  return (
    <div class="ending verbatim">
      {ending !== null && ending.because !== '' && (
        <p class="warn">
          <LongText text={ending.because} chars={chars} />
        </p>
      )}
      {ending !== null && (
        <p class="muted">
          {ending.seq === null ? (
            ending.where
          ) : (
            <a href={`#/run/${encodeURIComponent(run.runId)}/${ending.seq}`}>{ending.where}</a>
          )}
          {ending.why === '' ? '.' : ': '}
          <LongText text={ending.why} chars={chars} />
        </p>
      )}
    </div>
  );
}

function Verdict({ inspector, view }: PanelProps) {
  const { run, log, fold, count, end } = view;
  const fork = <ForkMark inspector={inspector} view={view} changes={forkChanges(runStart(log))} />;
  const answer = answerUpTo(log, fold, count - 1)?.answer;
  if (answer !== undefined && run.status !== 'damaged') {
    const { word, trust, title } = verdictOf(log, fold, answer);
    return (
      <p class="verdict dotted" role="status" title={title}>
        <b class={`word ${answer.status}`}>{word}</b>
        {trust.map((words) => (
          <span key={words}>{words}</span>
        ))}
        {fork}
      </p>
    );
  }
  // The banner shows what it waits for.
  const asked = waitingAt(log, fold, count - 1);
  const isWaiting = run.status === 'waiting' || asked !== null;
  const isFile = inspector.connection.value === 'file';
  const exported = startedText(run.exportedAt ?? '');
  const isDamaged = run.status === 'damaged' || (end?.problem ?? null) !== null;
  const [word, tone] = isDamaged
    ? ['Damaged', 'bad']
    : run.status === 'interrupted' && !(isFile && isWaiting)
      ? ['Interrupted', 'warn']
      : isWaiting
        ? [asked === null ? 'Waiting' : `Waiting for ${waitWords(asked.for)}`, asked === null ? '' : 'asks']
        : run.live || run.status === 'running'
          ? ['Running', 'running']
          : [capitalize(run.status), ''];
  return (
    <p class="verdict dotted" role="status">
      <b class={`word ${tone}`}>{word}</b>
      <span>
        {lastPhaseInWords(fold)}
        {isFile
          ? `, when this file was exported${exported === null ? '' : ` (${exported})`}`
          : run.status === 'running' && !run.live && ', in another process'}
      </span>
      {fork}
    </p>
  );
}

function Figures({ view }: Pick<PanelProps, 'view'>) {
  const { run, log, fold, count } = view;
  const sinceMs = useClock(view);
  const figures = useMemo(() => figuresOf(log, fold, count), [fold, count]);
  const { ms, cycles, calls, reused, failedCalls, unfinishedCalls, hasNoUsage, inputTokens, outputTokens } = figures;
  const { isEstimated, cost } = figures;
  const { sessionId = null, models = [] } = run.summary ?? {};
  // Before its last entry has arrived, longer words would shift what follows.
  const isOver = view.end !== null;
  const started = ageText(run.startedAt, Date.now());
  const waiting = waitingAt(log, fold, count - 1);
  const { wallMs } = fold.timeLine;
  const time = formatDuration(sinceMs + (waiting === null ? ms : wallMs(count - 1) - wallMs(waiting.askedAt)));
  return (
    <p class="figures dotted muted small">
      {/* The figures that grow during the run come last, so that nothing moves. */}
      {models.length > 0 && <span class="verbatim">{excerpt(models.join(', then '), 120)}</span>}
      {started !== null && (
        <time dateTime={run.startedAt} title={startedText(run.startedAt) ?? ''}>
          started {started}
        </time>
      )}
      <span>
        {run.status === 'interrupted'
          ? `last entry after ${formatDuration(ms)}`
          : `${waiting === null ? '' : 'waiting for '}${time}`}
      </span>
      {(cycles > 0 || !isOver) && <span class="wide-only">{pluralize(cycles, 'cycle')}</span>}
      <span>
        {pluralize(calls, reused > 0 ? 'own model call' : 'model call')}
        {reused > 0 && ` (${formatNumber(reused)} reused)`}
        {failedCalls > 0 && isOver && `, ${failedCalls === calls ? 'all' : formatNumber(failedCalls)} failed`}
        {unfinishedCalls > 0 &&
          isOver &&
          `, ${unfinishedCalls === calls ? '' : `${formatNumber(unfinishedCalls)} `}unfinished`}
      </span>
      {/* One text: the parts of several would move when the numbers grow. */}
      <span>
        {reused > 0
          ? `${pluralize(figures.tokens, isEstimated ? 'own estimated token' : 'own token')} (${formatNumber(figures.reusedTokens)} reused)`
          : hasNoUsage
            ? 'tokens not reported'
            : tokenTotal({ inputTokens, outputTokens, estimated: isEstimated })}
      </span>
      {(calls > 0 || reused === 0) && cost !== null && <span>{formatCost(cost)}</span>}
      {sessionId !== null && (
        <a href={`#/?${new URLSearchParams({ session: sessionId })}`} class="verbatim">
          session {excerpt(sessionId, 40)}
        </a>
      )}
    </p>
  );
}
