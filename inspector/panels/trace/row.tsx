import { capitalize, clockText, formatCost, formatDuration, formatNumber, formatTokens } from '../../fold/format.ts';
import type { Range } from '../../fold/selection.ts';
import { excerpt } from '../../fold/text.ts';
import type { Scale } from '../../fold/time-axis.ts';
import { type ListedRow, oncePerRow, type TraceRow, troubleWords } from '../../fold/trace-row.ts';
import { Icon, WithArrows } from '../../icon.tsx';
import { isLoading, type PanelView } from '../../ui-state/inspector.ts';
import { plainMarkdown } from '../markdown.tsx';
import { Cuts } from './time-axis.tsx';
import { clockStart } from './use-clock.ts';

export interface Moment {
  readonly view: PanelView;
  readonly isOver: boolean;
  readonly isWaiting: boolean;
  /** Since the latest entry. */
  readonly sinceMs: number;
  readonly scale: Scale;
}

/** Rows of one sentence, without a bar. */
const isSentence = ({ kind }: TraceRow): boolean => /^(?:decision|limit|event|step|ignored|aside|end)$/u.test(kind);

/** In a narrow trace, the note of a step has a line of its own. */
const isStep = ({ kind }: TraceRow): boolean => kind === 'step' || kind === 'ignored';

/** Whether the text has a line of its own, which is as wide as the trace. In a wide trace, a phase without a call has one line. */
const hasLine = (row: TraceRow, isNarrow: boolean): boolean =>
  (isNarrow || row.isElsewhere !== true) &&
  (/^(?:phase|answer|wait)$/u.test(row.kind) || (row.status === 'failed' && row.sameErrorAs === undefined)) &&
  row.text !== '';

/** `AXIS_PX`: the axis of a row, which has a line of its own in a narrow trace. */
const [LINE_PX, TITLE_PX, RESULT_PX, AXIS_PX] = [28, 20, 18, 10];
const WIDE_PX = 26;
const MAX_RESULT_LINES = 3;

/** Returns the height of a row in pixels. In a narrow trace, texts that are too long for one line get more, as in trace.css. */
export function heightOf({ row, level }: ListedRow, narrowPx: number | null): number {
  const result = hasLine(row, narrowPx !== null) ? textOf(row) : '';
  if (narrowPx === null) return result === '' ? WIDE_PX : WIDE_PX + RESULT_PX;
  const inside = narrowPx - 24 - 12 * (level - 1);
  const { kind, title, next, moves = '', note = '' } = row;
  const titlePx =
    inside - (isStep(row) ? 117 : isSentence(row) ? 24 : kind === 'actor' ? 120 : kind === 'activity' ? 164 : 140);
  if (isStep(row)) {
    const lines = linesOf(`${title} ${moves}`, 14, titlePx, 600);
    return LINE_PX + TITLE_PX * (lines - 1) + (note === '' ? 0 : RESULT_PX) + AXIS_PX;
  }
  const titleLines = linesOf(next === undefined ? title : `${title} ---- ${next}`, 14, titlePx);
  const resultLines = result === '' ? 0 : linesOf(result, 12, inside - (kind === 'phase' ? 42 : 24));
  return LINE_PX + TITLE_PX * (titleLines - 1) + RESULT_PX * Math.min(resultLines, MAX_RESULT_LINES) + AXIS_PX;
}

/** The text of a row; formatted text of a model without its marks. Parsing it takes long. */
const textOf = oncePerRow(({ status, text }) => (status === 'failed' ? excerpt(text, 300) : plainMarkdown(text, 300)));

const ruler = document.createElement('canvas').getContext('2d');
let family: string | undefined;

/** How many lines a text takes, if it breaks between words. In a hidden frame, the page has no width. */
function linesOf(text: string, size: number, widthPx: number, weight = 400): number {
  if (ruler === null || widthPx <= 0) return 1;
  family ??= getComputedStyle(document.body).fontFamily;
  ruler.font = `${weight} ${size}px ${family}`;
  let [lines, usedPx] = [1, 0];
  for (const word of excerpt(text, 300).split(/(?<=[\s/-])/u)) {
    if (usedPx > 0 && usedPx + ruler.measureText(word.trimEnd()).width > widthPx) [lines, usedPx] = [lines + 1, 0];
    for (usedPx += ruler.measureText(word).width; usedPx > widthPx && !/\s$/u.test(word); usedPx -= widthPx) lines += 1;
  }
  return lines;
}

interface RowProps extends ListedRow {
  readonly moment: Moment;
  readonly top: number;
  readonly height: number;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  /** Whether it entered or left the state that is selected in the chart, or took a transition that is. */
  readonly isMarked: boolean;
  readonly onSelect: () => void;
  readonly onToggle: () => void;
}

export function Row({ row, level, isOpen, moment, ...props }: RowProps) {
  const { count, fold } = moment.view;
  const { timeLine } = fold;
  const isLater = row.from > moment.view.at;
  const cursor = moment.scale.placeOfEntry(moment.view.at);
  const text = row.sameErrorAs === undefined ? row.text : `same error as ${row.sameErrorAs}`;
  const due = row.dueMs === undefined ? '' : `due ${clockAt(moment.view, clockStart(moment.view) + row.dueMs)[0]} `;
  const [time, ms] = clockAt(moment.view, clockStart(moment.view, row.from) + timeLine.atMs(row.from));
  const isLined = hasLine(row, props.height > WIDE_PX);
  const note = due + [row.note, !isLined && text].filter(Boolean).join(' · ');
  const classes = [
    'trace-row',
    row.kind,
    row.status,
    isSentence(row) && 'sentence',
    isLater && 'later',
    props.isSelected && 'selected',
    props.isActive && 'active',
    props.isMarked && 'marked',
  ];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active row
    <div
      id={`trace-${row.id}`}
      class={classes.filter(Boolean).join(' ')}
      role="treeitem"
      aria-level={level}
      aria-expanded={isOpen ?? undefined}
      aria-selected={props.isSelected}
      aria-posinset={props.index}
      aria-setsize={props.size}
      style={{ top: `${props.top}px`, height: `${props.height}px`, '--level': level - 1 }}
      onClick={props.onSelect}
    >
      <span class="title">
        <span
          class="toggle small"
          aria-hidden="true"
          onClick={(event) => {
            if (isOpen === null) return;
            event.stopPropagation();
            props.onToggle();
          }}
        >
          {isOpen === null ? row.number : <Icon name={isOpen ? 'expanded' : 'collapsed'} />}
        </span>
        {row.phase !== undefined && <i class="hue" style={{ background: `var(--phase-${row.phase})` }} />}
        <span class="name one-line verbatim">{excerpt(row.title, 300)}</span>
        {row.moves && (
          <>
            {' '}
            <span class="moves one-line verbatim">
              <WithArrows text={row.moves} />
            </span>
          </>
        )}
        {row.next !== undefined && (
          <span class="next">
            <Icon name="arrow-right" /> {row.next}
          </span>
        )}
        <StatusWord row={row} moment={moment} />
        {isOpen === false &&
          troubleWords(row).map(({ text, isBad }) => (
            <span key={text} class={`word ${isBad ? 'bad' : 'warn'}`}>
              {text}
            </span>
          ))}
        {note !== '' && (
          <span class="note one-line verbatim">
            <WithArrows text={excerpt(note, 300)} />
          </span>
        )}
      </span>
      <span class="track">
        <Cuts cuts={moment.scale.cuts} />
        {moment.view.at < count - 1 && cursor >= 0 && cursor <= 1 && (
          <i class="cursor" style={{ left: `${100 * cursor}%` }} />
        )}
        <Bar row={row} moment={moment} />
      </span>
      {!isSentence(row) && <Figures row={row} moment={moment} />}
      {row.stays !== undefined && (
        <span class="number stays" title="Until the next transition">
          {formatDuration(
            timeLine.passedMs(row.from, row.stays ?? count - 1) + (row.stays === null ? moment.sinceMs : 0),
          )}
        </span>
      )}
      {moment.view.run.kind === 'system' && (
        <span class="number when">
          {time}
          <span class="ms">{ms}</span>
        </span>
      )}
      {isLined && <span class="result one-line verbatim">{textOf(row)}</span>}
    </div>
  );
}

function StatusWord({ row, moment: { view, isWaiting } }: BarProps) {
  const { status, kind, to } = row;
  // The title of an event says it.
  if (status === 'failed' && !isSentence(row)) return <span class="word bad">failed</span>;
  if (status === 'ended' && kind !== 'wait' && !isSentence(row))
    return <span class="word warn">{kind === 'call' || kind === 'tool' ? 'no result' : 'stopped'}</span>;
  if (status === 'open' && to === null && kind !== 'wait' && kind !== 'actor' && !isLoading(view))
    return (
      <span class="word">
        {view.run.status !== 'running' || (isWaiting && kind === 'phase') ? 'waiting' : 'running'}
      </span>
    );
  return null;
}

/** A clock time, with its day if that is another than that of the start, and its milliseconds if it is not. */
function clockAt(view: PanelView, atMs: number): readonly [text: string, ms: string] {
  const [day, time, ms] = clockText(new Date(atMs), new Date(clockStart(view, 0)));
  return [`${day}${time}`, day === '' ? ms : ''];
}

type BarProps = { readonly row: TraceRow; readonly moment: Moment };

function msOf({ from, to }: Range, { view: { fold, count }, sinceMs }: Moment): number {
  const { wallMs } = fold.timeLine;
  return wallMs(to ?? count - 1) - wallMs(from) + (to === null ? sinceMs : 0);
}

/** The duration, tokens and cost of a row. They do not depend on the selected entry. */
function Figures({ row, moment }: BarProps) {
  const { usage, reusedTokens = 0 } = row;
  const { currency } = moment.view.fold.spans;
  const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
  return (
    <>
      <span class="number">{formatDuration(msOf(row, moment))}</span>
      {usage !== null && (
        <>
          <span
            class="number tokens"
            title={tokens > 0 ? formatTokens(usage) : reusedTokens > 0 ? 'reused: used by the original' : undefined}
          >
            {tokens > 0
              ? formatNumber(tokens)
              : reusedTokens > 0 && <span class="muted">{formatNumber(reusedTokens)}</span>}
            {tokens + reusedTokens > 0 && <span class="visually-hidden"> tokens</span>}
          </span>
          {currency !== null && (
            // The head of the column names the currency.
            <span class="number price">
              {usage.cost !== null && tokens > 0 && formatCost({ amount: usage.cost, currency }).split(' ', 1)}
            </span>
          )}
        </>
      )}
    </>
  );
}

/** Places just beyond the ends of the axis are at them. */
const ROUNDING = 1e-6;

function Bar({ row, moment: { view, scale } }: BarProps) {
  const { from, to, phase, early, stays } = row;
  const hue = phase === undefined ? {} : { '--hue': `var(--phase-${phase})` };
  const placeOf = (seq: number | null): number => (seq === null ? scale.now : scale.placeOfEntry(seq));
  const [start, end] = [placeOf(from), placeOf(to)];
  const outside = placeOf(to) < -ROUNDING ? 'before' : placeOf(early?.from ?? from) > 1 + ROUNDING ? 'after' : null;
  if (outside !== null)
    return (
      <span class={`outside ${outside}`} title={`${capitalize(outside)} the part that the axis shows`}>
        <Icon name="collapsed" />
      </span>
    );
  // What is after the cursor is drawn faintly.
  const isLater = from > view.at;
  if (isSentence(row))
    return (
      <>
        {stays !== undefined && (
          <i
            class="stay"
            style={{ left: `${100 * Math.max(0, start)}%`, right: `${100 * (1 - Math.min(1, placeOf(stays)))}%` }}
          />
        )}
        <i class={isLater ? 'point future' : 'point'} style={{ '--at': start }} />
      </>
    );
  const past = view.at >= view.count - 1 ? end : Math.max(start, Math.min(end, placeOf(view.at)));
  const parts: readonly (readonly [name: string, from: number, to: number])[] = [
    ...(early === undefined
      ? []
      : [[early.from > view.at ? 'early future' : 'early', placeOf(early.from), placeOf(early.to)] as const]),
    ...(past < end || isLater ? [['future', past, end] as const] : []),
    ...(past > start || (past === end && !isLater) ? [['', start, past] as const] : []),
  ];
  return (
    <>
      {parts.map(([name, left, right]) => {
        const [shown = 0, until = 0] = [left, right].map((place) => 100 * Math.max(0, Math.min(1, place)));
        if (right < -ROUNDING || left > 1 + ROUNDING) return null;
        return <i key={name} class={`bar ${name}`} style={{ left: `${shown}%`, width: `${until - shown}%`, ...hue }} />;
      })}
    </>
  );
}
