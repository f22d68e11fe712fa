import { type Delivery, deliveriesOf } from '../../fold/deliveries.ts';
import { grouped } from '../../fold/number-words.ts';
import { shortJson } from '../../ui-state/short-json.ts';
import { visible } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';
import { type Sent, sent } from './sent.ts';

/** What was sent to the run from this page, the newest first, and what became of it. */
export function SentList({ inspector, view: { run, log, fold, count } }: PanelProps) {
  const all = sent.value.filter(({ runId }) => runId === run.runId);
  const told = all.filter(({ answer }) => answer?.problem === null).toReversed();
  const deliveries = deliveriesOf(log, fold.places, told, count - 1);
  const deliveryOf = new Map(told.map(({ id }, place) => [id, deliveries[place] ?? null]));
  return (
    <section aria-label="What was sent">
      <h2>What was sent</h2>
      <ul class="sent" aria-live="polite">
        {all.map((one) => {
          const delivery = deliveryOf.get(one.id) ?? null;
          return (
            <li key={one.id}>
              <code class="told">{shortJson(one.event, 200)}</code>
              <p class={one.answer?.problem ? 'wrong told' : 'outcome'}>
                {outcomeOf(one, delivery)}{' '}
                {delivery !== null && (
                  <button type="button" class="quiet" onClick={() => inspector.moveTo(delivery.seq)}>
                    entry {grouped(delivery.seq)}
                  </button>
                )}
              </p>
            </li>
          );
        })}
      </ul>
      {all.length === 0 && <p class="muted">Nothing yet.</p>}
    </section>
  );
}

function outcomeOf({ answer }: Sent, delivery: Delivery | null): string {
  if (answer === null) return 'under way…';
  if (answer.problem !== null) return `not told: ${visible(answer.problem)}`;
  if (delivery === null) return 'told';
  return delivery.isRefused ? 'told, delivered, and refused: it is no phase' : 'told, and delivered';
}
