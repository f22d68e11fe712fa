import type { WhyFact } from '../../fold/why-facts.ts';
import { LongText } from '../long-text.tsx';

const MOST_CHARS = 1_200;

export function WhyFacts({ facts }: { readonly facts: readonly WhyFact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(({ label, text, said }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={said ? 'told' : undefined}>
            <LongText text={text} chars={MOST_CHARS} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
