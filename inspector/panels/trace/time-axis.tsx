import { useMemo, useRef, useState } from 'preact/hooks';
import { formatDuration } from '../../fold/format.ts';
import { eventWords } from '../../fold/system-words.ts';
import { excerpt } from '../../fold/text.ts';
import { axisEnd, cutLabels, type Scale, scaleOf, type TimeRange, ticksOf, zoomed } from '../../fold/time-axis.ts';
import { MIN_GAP_MS } from '../../fold/time-line.ts';
import type { TraceRow } from '../../fold/trace-row.ts';
import { IconButton } from '../../icon.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import type { Key } from '../../ui-state/keys.ts';
import { useOneTabStop } from '../../ui-state/one-tab-stop.ts';
import { useMeasured } from '../../use-measured.ts';

export type Axis = ReturnType<typeof useAxis>;

export const ZOOM_KEYS: readonly Key[] = [
  { keys: ['+', '-'], description: 'Zoom the time axis around the row', group: 'Trace' },
  { keys: ['Escape'], description: 'Show the whole time axis', group: 'Trace' },
];

export const ZOOM_FACTORS: Readonly<Record<string, number>> = { '+': 0.5, '=': 0.5, '-': 2 };

const FIRST_PX = 200;

/** The time axis of the rows. While something is running, it grows. */
export function useAxis({ run, fold: { timeLine, spans }, count }: PanelView, isOver: boolean, sinceMs: number) {
  const ruler = useRef<HTMLSpanElement>(null);
  const axisPx = useMeasured(ruler, FIRST_PX, ({ clientWidth }) => clientWidth || FIRST_PX);
  const [range, show] = useState<TimeRange | null>(null);
  const lastMs = timeLine.drawnMs(Math.max(0, count - 1));
  const isIdle = sinceMs > MIN_GAP_MS && spans.calls.every(({ to }) => to !== null);
  const [nowMs, idleMs] = isIdle ? [lastMs, sinceMs] : [lastMs + sinceMs, 0];
  const wholeMs = isOver || isIdle ? Math.max(lastMs, 1) : axisEnd(nowMs);
  // A process takes a moment to start an actor.
  const zeroMs = run.kind === 'system' ? Math.min(timeLine.drawnMs(0), wholeMs - 1) : 0;
  const scale = useMemo(
    () => scaleOf(timeLine, range ?? { startMs: zeroMs, endMs: wholeMs }, axisPx, { nowMs, idleMs }),
    [timeLine, count, range, wholeMs, axisPx, nowMs, idleMs],
  );
  const timesOf = ({ from, to }: TraceRow): TimeRange => ({
    startMs: timeLine.drawnMs(from),
    endMs: to === null ? nowMs : timeLine.drawnMs(to),
  });
  return {
    ruler,
    scale,
    zeroMs,
    isZoomed: range !== null,
    middleOf: (row: TraceRow) => (timesOf(row).startMs + timesOf(row).endMs) / 2,
    /** Shows only this part; null shows all. */
    show,
    /** `aroundMs` keeps its place. */
    zoom: (factor: number, aroundMs: number) => show(zoomed(scale, factor, aroundMs, wholeMs)),
  };
}

export function ZoomButtons({ axis, aroundMs }: { readonly axis: Axis; readonly aroundMs: number }) {
  const group = useOneTabStop<HTMLFieldSetElement>();
  const isDisabled = !axis.isZoomed;
  const show = { icon: 'whole', label: 'Show the whole time axis', keys: 'Escape', isDisabled } as const;
  return (
    <fieldset class="zoom-buttons row" aria-label="Time axis" {...group}>
      <IconButton icon="plus" label="Zoom in" keys="+" onClick={() => axis.zoom(0.5, aroundMs)} />
      <IconButton
        icon="minus"
        label="Zoom out"
        keys="-"
        isDisabled={isDisabled}
        onClick={() => axis.zoom(2, aroundMs)}
      />
      <IconButton {...show} onClick={() => axis.show(null)} />
    </fieldset>
  );
}

/** The shortened gaps of the axis, behind its times or a bar. */
export const Cuts = ({ cuts }: Pick<Scale, 'cuts'>) => (
  <>
    {cuts.map(({ from, to, ms }) => (
      <i
        key={from}
        class="cut"
        title={`Nothing ran for ${formatDuration(ms)}; not drawn to scale`}
        style={{ left: `${100 * from}%`, width: `${100 * (to - from)}%` }}
      />
    ))}
  </>
);

/** `waited 2 h for APPROVE`: the length of a gap, and the event that an actor received after it. */
function gapWords({ run, log, fold }: PanelView, duration: string, seq: number | null): string {
  if (seq !== null && seq === fold.timeLine.forkStart) return `forked after ${duration}`;
  if (seq === null || run.kind !== 'system') return `waited ${duration}`;
  // A process that continues the actor writes an entry before the event.
  const [entry] = [seq, seq + 1].flatMap((at) => {
    const type: string = fold.entries.typeOf(at);
    return type === 'delivery' || type === 'retried' ? log.entry(at) : [];
  });
  if (entry === undefined) return `waited ${duration}`;
  if (entry.type !== 'delivery') return `${Object(entry).isSkipped ? 'skipped' : 'retried'} after ${duration}`;
  return `waited ${duration} for ${excerpt(eventWords({ fold }, entry.actor, entry.event.type), 30)}`;
}

/** The times of the axis, and the length of its shortened gaps in a second line. */
export function Ruler({ view, axis }: { readonly view: PanelView; readonly axis: Axis }) {
  const { timeLine } = view.fold;
  const { scale, ruler, zeroMs } = axis;
  const labels = [
    ...ticksOf(timeLine, scale, zeroMs).map((tick) => ({ ...tick, name: 'tick' })),
    ...cutLabels(scale, (duration, seq) => gapWords(view, duration, seq)).map((label) => ({
      ...label,
      name: 'skipped',
    })),
  ];
  return (
    <span ref={ruler} class="ruler" aria-hidden="true" style={{ '--lines': scale.cuts.length > 0 ? 2 : 1 }}>
      <Cuts cuts={scale.cuts} />
      {labels.map(({ at, label, name }) => (
        <span key={`${name}${at}`} class={name} style={{ '--at': at }}>
          {label}
        </span>
      ))}
    </span>
  );
}
