import { formatCost, formatDuration, formatNumber, formatTime, formatTokens, pluralize } from '../../fold/format.ts';
import type { Bar } from '../../fold/lanes.ts';
import { countUpTo, lastStartedBy } from '../../fold/sorted.ts';
import { type Sums, sumsOf } from '../../fold/spans.ts';
import { excerpt } from '../../fold/text.ts';
import { entryLine } from '../../ui-state/entry-line.ts';
import type { RunView } from '../../ui-state/inspector.ts';

/** A bar under the pointer, or at the cursor if the timeline has the focus; and where to show its card, in pixels. */
export interface Hovered {
  readonly bar: Bar;
  readonly x: number;
  readonly y: number;
}

const RESULT_CHARS = 220;
const GAP_PX = 12;

export function HoverCard({ view, hovered: { bar, x, y } }: { readonly view: RunView; readonly hovered: Hovered }) {
  const isLeft = x < innerWidth / 2;
  const side = isLeft ? { left: `${x + GAP_PX}px` } : { right: `${innerWidth - x + GAP_PX}px` };
  const place = placeOf(view, bar);
  const result = bar.failure ?? resultOf(view, bar);
  return (
    <div
      class="hover-card"
      id="timeline-card"
      role="tooltip"
      style={{ ...side, bottom: `${innerHeight - y + GAP_PX}px` }}
    >
      <p class="title">{excerpt(bar.title, 80)}</p>
      {place !== '' && <p class="muted">{place}</p>}
      {factsOf(view, bar).map((fact) => (
        <p key={fact}>{fact}</p>
      ))}
      {result !== '' && (
        <p class={bar.failure === null ? 'result' : 'failure'}>
          {bar.failure !== null && 'Failed: '}
          <span class="verbatim">{excerpt(result, RESULT_CHARS)}</span>
        </p>
      )}
    </div>
  );
}

function placeOf({ fold: { spans } }: RunView, { kind, from, to }: Bar): string {
  const phase = lastStartedBy(spans.phases, from);
  if (kind === 'cycle' || phase === undefined || (phase.to !== null && phase.to < from && kind !== 'decision'))
    return '';
  const cycle = `Cycle ${phase.cycle}`;
  return kind === 'phase' || kind === 'decision' || to === from ? cycle : `${cycle} › ${phase.phase}`;
}

function factsOf({ fold, count, run }: RunView, { kind, from, to, attempt }: Bar): readonly string[] {
  const { timeLine, spans } = fold;
  const start = timeLine.atMs(from);
  if (to === from) return [`at ${formatTime(start)}`];
  const end = timeLine.atMs(to ?? count - 1);
  const time = `${formatDuration(end - start)} (from ${formatTime(start)} to ${to === null ? 'now' : formatTime(end)})`;
  const isOpen = to === null && run.live;
  if (kind === 'cycle' || kind === 'phase') {
    const sums = sumsOf(spans, timeLine, from, to ?? count - 1);
    return [time, ...sumFacts(sums, spans.currency)];
  }
  if (attempt === undefined || attempt.usage === null) return [isOpen ? `${time}, running` : time];
  const { usage, cost } = attempt;
  return [time, formatTokens(usage), ...(cost === null ? [] : [costText(cost, spans.currency)])];
}

const costText = (amount: number, currency: string | null): string => formatCost({ amount, currency: currency ?? '' });

export function sumFacts(sums: Sums, currency: string | null): readonly string[] {
  const { modelCalls, failed, retries, cost } = sums;
  if (modelCalls === 0) return ['no model calls'];
  const marks = [
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(retries === 0 ? [] : [retries === 1 ? '1 retry' : `${formatNumber(retries)} retries`]),
  ];
  return [
    [pluralize(modelCalls, 'model call'), ...marks].join(', '),
    ...(cost === null ? [] : [costText(cost, currency)]),
    formatTokens(sums),
  ];
}

function resultOf({ log, fold: { entries } }: RunView, { kind, from, to, attempt }: Bar): string {
  if (kind === 'decision' || kind === 'event') return entryLine(log.entry(from));
  if (to === null) return '';
  if (attempt !== undefined) return attempt.usage === null ? 'Stopped, because its phase ended.' : 'A valid reply.';
  const end = log.entry(to);
  if (kind === 'phase') return end.type === 'phase-end' ? end.summary : '';
  if (kind === 'capability') return end.type === 'capability-end' && end.result.success ? end.result.output : '';
  if (kind !== 'retrieval') return '';
  const searches = entries.of('retrieval');
  const search = searches[countUpTo(searches, from)];
  return search === undefined || search > to + 1 ? '' : entryLine(log.entry(search));
}
