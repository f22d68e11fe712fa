import type { ComponentChildren } from 'preact';
import { copyKey } from '../fold/chart-copies.ts';
import { placeIn } from '../fold/chart-index.ts';
import { isOwnChart, noteText, transitionWords } from '../fold/chart-words.ts';
import { excerpt } from '../fold/text.ts';
import { Icon } from '../icon.tsx';
import { type ChartViewProps, countText, isMarkedFailed, marksOfCopy } from './chart-picture.tsx';
import { ownOf } from './drawing.ts';

interface ChartListProps extends ChartViewProps {
  /** Shown below the selected state. */
  readonly children?: ComponentChildren;
}

/** A chart as nested lists, for pages that are too narrow for the picture: its states, each with the ways out of it. */
export const ChartList = (props: ChartListProps) => (
  <div class="chart-list">
    <States {...props} chartId={props.root} copy={props.root} parent={props.root} />
  </div>
);

interface StatesProps extends ChartListProps {
  readonly chartId: string;
  /** The key of the marks. */
  readonly copy: string;
  readonly parent: string;
}

/** With more states, the active ones are first, and those that are neither active nor selected are one line each. */
const MAX_OPEN = 8;

function States(props: StatesProps) {
  const { charts, chartId, copy, parent, marks, hues, selected, onSelect } = props;
  const known = marksOfCopy(charts, marks, chartId, copy);
  if (known === null) return null;
  const { index, active, taken, visited, last } = known;
  const isOwn = isOwnChart(chartId);
  const isOpen = (id: string): boolean =>
    index.states.length <= MAX_OPEN ||
    ((isOwn || active.size === 0) && id === index.root?.initial) ||
    active.has(id) ||
    index.states.some((one) => isSelected(one.id) && index.isInside(one.id, id));
  const isSelected = (id: string): boolean =>
    selected?.kind === 'state' && selected.chartId === chartId && selected.stateId === id;
  const children = index.childrenOf(parent);
  const ordered =
    isOwn || index.states.length <= MAX_OPEN
      ? children
      : [...children].sort((one, other) => Number(active.has(other.id)) - Number(active.has(one.id)));
  const waysFrom = (id: string, ways: ReturnType<typeof index.transitionsFrom>) =>
    ways.map(({ index: at, target, ...way }) => (
      <p key={at} class={taken.has(at) ? (last?.transition === at ? 'way last' : 'way') : 'way muted'}>
        {id === chartId && 'any state: '}
        {excerpt(transitionWords(chartId, { ...way, target }), 80)} {countText(taken.get(at) ?? 0)}{' '}
        <Icon name="arrow-right" /> {excerpt(target.map((one) => placeIn(index, one, id)).join(', '), 80)}
      </p>
    ));
  const fromRoot = isOwn || parent !== chartId ? [] : index.transitionsFrom(parent);
  return (
    <ul>
      {fromRoot.length > 0 && (
        <li>
          {waysFrom(
            parent,
            fromRoot.filter(({ target }) => target.length > 0),
          )}
        </li>
      )}
      {ordered.map(({ id, name, invokes }) => {
        const own = index.transitionsFrom(id);
        const isWithin = (one: string): boolean => index.isInside(one, id);
        // A folded phase of the chain lists the transitions that leave it, also those of its inner states.
        const sources = isOpen(id)
          ? [id]
          : isOwn
            ? index.states.flatMap((state) => (isWithin(state.id) ? state.id : []))
            : [];
        const isFolded = !isOpen(id) && !isOwn && own.length + index.childrenOf(id).length > 0;
        const ways = sources
          .flatMap((source) => index.transitionsFrom(source))
          .filter(
            ({ index: at, source, target }) =>
              target.length > 0 && (source === id || !target.some(isWithin)) && (!isOwn || taken.has(at)),
          );
        const inner = invokes.map((actor) => ownOf(charts.invoked, actor)).find((one) => one !== undefined);
        const isLeaf = active.has(id) && !index.childrenOf(id).some((child) => active.has(child.id));
        const hue = copy === chartId ? ownOf(hues, id) : undefined;
        const isFailed = visited.has(id) && isMarkedFailed(marks, copy, id);
        const note = [noteText(chartId, invokes, own), isFailed ? 'failed' : ''].filter(Boolean).join(' · ');
        return (
          <li key={id} class={isLeaf ? 'leaf' : visited.has(id) ? '' : 'never'}>
            <button
              type="button"
              class="plain row"
              aria-pressed={isSelected(id)}
              aria-expanded={isFolded ? false : undefined}
              aria-current={isLeaf ? 'step' : undefined}
              onClick={() => onSelect({ kind: 'state', chartId, stateId: id })}
            >
              {hue !== undefined && <i class="hue" style={{ background: hue }} />}
              <span class="name verbatim">{excerpt(name, 80)}</span>
              {isFolded && <Icon name="plus" />}
              <span class={isFailed ? 'wrong' : 'muted'}>{excerpt(note, 80)}</span>
            </button>
            {waysFrom(id, ways)}
            {isSelected(id) && props.children}
            {isOpen(id) && index.childrenOf(id).length > 0 && <States {...props} parent={id} />}
            {inner !== undefined && (active.has(id) || isSelected(id)) && (
              <States {...props} chartId={inner} copy={copyKey(inner, { chartId, stateId: id })} parent={inner} />
            )}
          </li>
        );
      })}
    </ul>
  );
}
