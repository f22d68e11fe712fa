import { useState } from 'preact/hooks';
import type { Chart } from '../../src/engine/charts/chart.ts';
import { KINDS } from '../../src/testing/coverage/coverage-report.ts';
import type { Choice } from '../chart/scene.ts';
import { grouped } from '../fold/format.ts';
import { shortly, visible } from '../ui-state/text.ts';
import { answerOf, type CoveredMachine, placeOfItem, type ShownItem, shortName } from './report.ts';

const HEADINGS: Readonly<Record<ShownItem['kind'], string>> = {
  state: 'States never entered',
  transition: 'Transitions never taken',
  guard: 'Guard results never seen',
  outcome: 'Actor outcomes never reached',
  delay: 'Delays that never elapsed',
};

/** So many of a kind are shown at first. */
const MANY = 200;

interface MissingListProps {
  readonly machine: CoveredMachine;
  readonly chart: Chart | undefined;
  /** What was sought last is still chosen. */
  readonly isSought: boolean;
  readonly onSeek: (choice: Choice) => void;
}

/** What a machine was never brought to, by kind; each shows its place in the chart. */
export function MissingList({ machine, chart, isSought, onSeek }: MissingListProps) {
  const [sought, setSought] = useState<string | null>(null);
  const missing = machine.items.filter(({ times }) => times === 0);
  if (missing.length === 0) return <p>Nothing: this chart is fully covered.</p>;
  const marked = isSought ? sought : null;
  const seek = ({ key }: ShownItem, choice: Choice): void => {
    setSought(key);
    onSeek(choice);
  };
  return (
    <>
      {KINDS.map((kind) => {
        const items = missing.filter((item) => item.kind === kind);
        return items.length === 0 ? null : (
          <MissingKind key={kind} items={items} {...{ kind, machine, chart, marked, seek }} />
        );
      })}
    </>
  );
}

interface MissingKindProps {
  readonly kind: ShownItem['kind'];
  readonly items: readonly ShownItem[];
  readonly machine: CoveredMachine;
  readonly chart: Chart | undefined;
  readonly marked: string | null;
  readonly seek: (item: ShownItem, choice: Choice) => void;
}

function MissingKind({ kind, items, machine, chart, marked, seek }: MissingKindProps) {
  const [all, setAll] = useState(false);
  return (
    <section aria-labelledby={`missing-${kind}`}>
      <h3 id={`missing-${kind}`}>
        {HEADINGS[kind]} <span class="number">{grouped(items.length)}</span>
      </h3>
      <ul>
        {items.slice(0, all ? items.length : MANY).map((item, at) => {
          const choice = chart === undefined ? null : placeOfItem(item, chart);
          const answer = answerOf(item);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: they do not change, and a changed file may have one twice
            <li key={at}>
              <button
                type="button"
                class="place told"
                disabled={choice === null}
                aria-pressed={marked === item.key}
                title={visible(item.name)}
                onClick={() => choice !== null && seek(item, choice)}
              >
                {shortly(shortName(item, machine.machine), 160)}
                {answer !== null && <span class="answer"> never {answer}</span>}
              </button>
            </li>
          );
        })}
      </ul>
      {!all && items.length > MANY && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {grouped(items.length)}
        </button>
      )}
    </section>
  );
}
