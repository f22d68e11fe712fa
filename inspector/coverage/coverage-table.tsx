import { inPercent, KINDS, percentOf, TITLES } from '../../src/testing/coverage/kinds.ts';
import { grouped } from '../fold/number-words.ts';
import { shortly } from '../ui-state/text.ts';
import type { CoveredMachine, ShownItem } from './read-report.ts';

interface CoverageTableProps {
  readonly machines: readonly CoveredMachine[];
  /** By its place. */
  readonly shown: number;
  readonly onShow: (place: number) => void;
}

/** A row a machine, which shows that machine. */
export function CoverageTable({ machines, shown, onShow }: CoverageTableProps) {
  return (
    <div class="coverage-table">
      <table>
        <caption class="unseen">How much of each machine was brought about</caption>
        <thead>
          <tr>
            {['machine', ...KINDS.map((kind) => TITLES[kind]), 'all'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {machines.map((one, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they do not change, and two may have one name
            <tr key={place} class={place === shown ? 'shown' : undefined}>
              <th scope="row">
                <button
                  type="button"
                  aria-pressed={place === shown}
                  title={shortly(one.machine, 300)}
                  onClick={() => onShow(place)}
                >
                  {shortly(one.machine, 60)}
                </button>
              </th>
              {KINDS.map((kind) => (
                <Share key={kind} items={one.items.filter((item) => item.kind === kind)} />
              ))}
              <Share items={one.items} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Per cent, and how many of how many. */
function Share({ items }: { readonly items: readonly ShownItem[] }) {
  if (items.length === 0) return <td class="muted">none</td>;
  const percent = percentOf({ items });
  const reached = items.filter(({ times }) => times > 0).length;
  return (
    <td class={reached === items.length ? 'whole' : undefined}>
      <span>{inPercent(percent)}</span>{' '}
      <span class="muted">
        {grouped(reached)} of {grouped(items.length)}
      </span>
      <span class="share" aria-hidden="true" style={{ '--share': `${percent}%` }} />
    </td>
  );
}
