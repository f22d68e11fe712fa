import type { WhyFact } from '../../fold/why-facts.ts';
import { visible } from '../../shown/text.ts';

const MOST_CHARS = 1_200;

export function WhyFacts({ facts }: { readonly facts: readonly WhyFact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(({ label, text, said }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={said ? 'told' : undefined}>{visible(text.slice(0, MOST_CHARS))}</dd>
        </div>
      ))}
    </dl>
  );
}
