import type { SeenNumber } from '../../fold/verdict-numbers.ts';
import { shortly } from '../../ui-state/text.ts';

/** What a guard saw: each value with its name, beside the limit that it was held against. */
export function SeenNumbers({ saw }: { readonly saw: readonly SeenNumber[] }) {
  if (saw.length === 0) return null;
  return (
    <ul class="saw" aria-label="What it saw">
      {saw.map(({ name, value, limit, share }) => (
        <li key={name}>
          <span class="muted">{name}</span> <b class="told mono">{spelled(value)}</b>
          {limit !== null && (
            <>
              {' '}
              <span class="muted">{SIDES[limit.name] ?? limit.name}</span> <b class="mono">{spelled(limit.value)}</b>
            </>
          )}
          {share !== null && (
            <span class="share" aria-hidden="true">
              <span class="share-value" style={{ width: `${share.value * 100}%` }} />
              <span class="share-limit" style={{ left: `${share.limit * 100}%` }} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A threshold is what was wanted; what a value was is another thing. */
const SIDES: Readonly<Record<string, string>> = { above: 'wanted above', below: 'wanted below' };

function spelled(value: SeenNumber['value']): string {
  if (typeof value === 'number') return value.toLocaleString('en-US', { maximumFractionDigits: 4 });
  if (value === null) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value === '' ? '(empty)' : shortly(value, 80);
}
