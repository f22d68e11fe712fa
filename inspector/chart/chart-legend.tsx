import { useId, useState } from 'preact/hooks';
import { Icon } from '../icon.tsx';

/** The marks of a chart with their meanings. The pictures have the classes of the chart's own shapes; those that a chart does not have are left out. */
const MARKS = [
  ['edge', 'a transition'],
  ['edge taken', 'taken up to this moment; ×4: four times'],
  ['edge taken last', 'the latest transition'],
  ['state leaf', 'active'],
  ['state ringed', 'selected, or entered by the selected step'],
  ['state failed', 'failed here, or exited after a failure'],
  ['state never', 'not visited'],
  ['state region', 'a region: active together with the others'],
  ['state history', 'a history state'],
  ['state final', 'a final state'],
  ['state initial', 'the initial state'],
] as const;

const TEXTS = [
  ['ABORT › aborted', 'a transition without a line; click it to list it', '.stub', / › /u],
  ['ABORT from 8 states', 'transitions into this state without lines', '.stub', / from /u],
  ['+2', 'two more transitions; click to list them', '.stub', /^\+/u],
  ['[isCheap] / mail', 'a guard, and actions', 'text', /\[| \/ /u],
  ['group2 › step1', 'the state that a line leads to, or comes from', '.elsewhere', /^(?!any |here )/u],
  [
    'any state, here step1',
    'a transition that is possible in every state here, and the state that it last left',
    '.elsewhere',
    /^any/u,
  ],
  ['+', 'contains states; select it again to open it', '.fold', /^/u],
] as const;

/** A button beside the chart. A click elsewhere or Escape closes the legend. */
export function ChartLegend() {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" popovertarget={id} aria-label="Legend" title="Legend">
        <Icon name="list" />
      </button>
      <div id={id} class="chart-legend" popover="auto" onToggle={({ newState }) => setOpen(newState === 'open')}>
        {isOpen && <Meanings />}
      </div>
    </>
  );
}

/** Whether the chart has something that the legend explains. */
const isShown = (selector: string, pattern = /^/u): boolean =>
  [...document.querySelectorAll(`.chart-scroll ${selector}`)].some(({ textContent }) =>
    pattern.test(textContent ?? ''),
  );

const selectorOf = (kind: string): string => (kind === 'state initial' ? '.initial' : `.${kind.replaceAll(' ', '.')}`);

const Meanings = () => (
  <dl>
    {MARKS.filter(([kind]) => isShown(selectorOf(kind))).map(([kind, meaning]) => (
      <div key={kind}>
        <dt>
          <svg class="chart-picture" width="44" height="18" aria-hidden="true">
            <g class={kind}>
              {kind.startsWith('edge') ? (
                <>
                  <path class="line" d="M2 9h34" />
                  <path class="head" d="M42 9l-8 -4v8z" />
                </>
              ) : (
                <>
                  <rect class="box" x="6" y="2" width="32" height="14" rx="5" />
                  {kind.endsWith('ringed') && <rect class="ring" x="3.5" y="0.5" width="37" height="17" rx="7" />}
                  {kind.endsWith('final') && <rect class="inner" x="9" y="5" width="26" height="8" rx="3" />}
                  {kind.endsWith('initial') && <circle class="initial" cx="6" cy="3" r="3" />}
                </>
              )}
            </g>
          </svg>
        </dt>
        <dd>{meaning}</dd>
      </div>
    ))}
    {TEXTS.filter(([, , selector, pattern]) => isShown(selector, pattern)).map(([text, meaning]) => (
      <div key={text}>
        <dt>{text}</dt>
        <dd>{meaning}</dd>
      </div>
    ))}
  </dl>
);
