import { useState } from 'preact/hooks';
import type { Chart } from '../../src/durable/charts/chart.ts';
import { KINDS } from '../../src/testing/coverage/coverage-report.ts';
import { formatNumber } from '../fold/format.ts';
import type { ChartSelection } from '../fold/selection.ts';
import { excerpt, revealHidden } from '../fold/text.ts';
import { type CoveredMachine, guardResultOf, placeOfItem, type ReportItem, shortName } from './report.ts';

const HEADINGS: Readonly<Record<ReportItem['kind'], string>> = {
  state: 'States never entered',
  transition: 'Transitions never taken',
  guard: 'Guard results never observed',
  outcome: 'Actor outcomes never reached',
  delay: 'Delays that never elapsed',
};

/** The items of each kind shown before expanding. */
const MANY = 200;

interface MissingListProps {
  readonly machine: CoveredMachine;
  readonly chart: Chart | undefined;
  /** The item revealed last is still selected. */
  readonly isRevealed: boolean;
  readonly onReveal: (choice: ChartSelection) => void;
}

export function MissingList({ machine, chart, isRevealed, onReveal }: MissingListProps) {
  const [revealed, setRevealed] = useState<string | null>(null);
  const missing = machine.items.filter(({ times }) => times === 0);
  if (missing.length === 0) return <p>Nothing: this chart is fully covered.</p>;
  const marked = isRevealed ? revealed : null;
  const reveal = ({ key }: ReportItem, choice: ChartSelection): void => {
    setRevealed(key);
    onReveal(choice);
  };
  return (
    <>
      {KINDS.map((kind) => {
        const items = missing.filter((item) => item.kind === kind);
        return items.length === 0 ? null : (
          <MissingKind key={kind} items={items} {...{ kind, machine, chart, marked, reveal }} />
        );
      })}
    </>
  );
}

interface MissingKindProps {
  readonly kind: ReportItem['kind'];
  readonly items: readonly ReportItem[];
  readonly machine: CoveredMachine;
  readonly chart: Chart | undefined;
  readonly marked: string | null;
  readonly reveal: (item: ReportItem, choice: ChartSelection) => void;
}

function MissingKind({ kind, items, machine, chart, marked, reveal }: MissingKindProps) {
  const [all, setAll] = useState(false);
  return (
    <section aria-labelledby={`missing-${kind}`}>
      <h3 id={`missing-${kind}`}>
        {HEADINGS[kind]} <span class="number">{formatNumber(items.length)}</span>
      </h3>
      <ul>
        {items.slice(0, all ? items.length : MANY).map((item, at) => {
          const choice = chart === undefined ? null : placeOfItem(item, chart);
          const guardResult = guardResultOf(item);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list is static, and keys of an edited file may repeat
            <li key={at}>
              <button
                type="button"
                class="missing-item verbatim"
                disabled={choice === null}
                aria-pressed={marked === item.key}
                title={revealHidden(item.name)}
                onClick={() => choice !== null && reveal(item, choice)}
              >
                {excerpt(shortName(item, machine.machine), 160)}
                {guardResult !== null && <span class="guard-result"> never {guardResult}</span>}
              </button>
            </li>
          );
        })}
      </ul>
      {!all && items.length > MANY && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {formatNumber(items.length)}
        </button>
      )}
    </section>
  );
}
